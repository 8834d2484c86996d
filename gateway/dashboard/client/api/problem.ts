/** One entry of `errors` in a problem answer. Entries of lists are named `to[3]`, members `buttons[0].title`. */
export interface FieldError {
  readonly field: string;
  readonly code: string;
  readonly detail: string;
}

/** An answer that is not a success (RFC 9457), or none at all: then `status` is 0. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;
  /** Members beyond those of every problem, such as `mismatch`. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(text(body.detail) ?? 'The answer cannot be read. Try again in a minute.');
    this.status = status;
    this.code = text(body.code) ?? 'unknown';
    this.title = text(body.title) ?? `Answer ${status}`;
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.requestId = text(body.request_id);
    this.body = body;
  }
}

/** What is wrong with a field, and the gateway cannot see. */
export function fieldProblem(error: FieldError): ApiProblem {
  return new ApiProblem(400, { title: 'Invalid request', errors: [error] });
}

export function noConnection(): ApiProblem {
  return new ApiProblem(0, {
    code: 'no_connection',
    title: 'No connection',
    detail: 'The gateway does not answer. Check your connection, then try again.',
  });
}

/** Whatever was thrown, as something to show. */
export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(-1, {
    code: 'client_error',
    title: 'The page has a fault',
    detail: `Reload the page. If it happens again, report this: ${String(error)}`,
  });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
