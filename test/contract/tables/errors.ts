/** "Errors": a status and its conditions. decisions.md (Errors) gives each condition's `code`. */
export interface ErrorRow {
  readonly status: number;
  readonly meaning: string;
  /** Conditions that the walk can cause, with the answer's `code`. Empty for a success, and for 429 and 500. */
  readonly conditions: readonly { readonly when: Condition; readonly code: string }[];
}

export const ERRORS = [
  { status: 200, meaning: 'Success', conditions: [{ when: 'a good request', code: '' }] },
  {
    status: 400,
    meaning: 'Bad request',
    conditions: [
      { when: 'a field is missing', code: 'invalid_request' },
      { when: 'a parameter is invalid', code: 'invalid_request' },
      { when: 'a field is unknown', code: 'invalid_request' },
      { when: 'the body is not JSON', code: 'malformed_body' },
      { when: 'the text is of no approved template', code: 'template_mismatch' },
    ],
  },
  {
    status: 401,
    meaning: 'Unauthorized',
    conditions: [
      { when: 'another scheme than Bearer', code: 'key_missing' },
      { when: 'the key was revoked', code: 'key_revoked' },
    ],
  },
  {
    status: 403,
    meaning: 'Forbidden',
    conditions: [
      { when: 'too few credits', code: 'insufficient_credits' },
      { when: 'the account is suspended', code: 'account_suspended' },
      { when: 'the key lacks the scope', code: 'scope_missing' },
      { when: 'the sender is not registered', code: 'sender_not_allowed' },
      { when: 'the session is closed', code: 'session_closed' },
      { when: 'the template is not approved', code: 'template_not_approved' },
    ],
  },
  {
    status: 404,
    meaning: 'Not found',
    conditions: [
      { when: 'no such message', code: 'message_not_found' },
      { when: 'no such schedule', code: 'schedule_not_found' },
      { when: 'no such DLT template', code: 'template_not_found' },
      { when: 'no such chat-app template', code: 'template_not_found' },
      { when: 'no such path', code: 'not_found' },
    ],
  },
  // 429 is tested with the limits. No caller can cause a 500; the last test checks that there was none.
  { status: 429, meaning: 'Rate limited', conditions: [] },
  { status: 500, meaning: 'Server error', conditions: [] },
] as const;

export type Condition = Exclude<(typeof ERRORS)[number]['conditions'][number], never>['when'];

/** Statuses that decisions.md (Errors) adds to the table's seven. */
export const ADDED_STATUSES: readonly number[] = [405, 409, 413, 415, 422, 503];
