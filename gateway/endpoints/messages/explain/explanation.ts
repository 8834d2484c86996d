/** Why a message did not arrive, in words for the customer. */
export interface Explanation {
  /** What happened: one sentence. */
  readonly cause: string;
  /** What to do about it: one or two sentences. */
  readonly advice: string;
}

/** Codes that have the same explanation. */
export interface ExplainedCodes extends Explanation {
  readonly codes: readonly string[];
}

export function explained(codes: string | readonly string[], cause: string, advice: string): ExplainedCodes {
  return { codes: typeof codes === 'string' ? [codes] : codes, cause, advice };
}

/** For the `advice` of codes that the customer can do nothing about. */
export const NOT_YOURS =
  'Your message is not the reason. Tell your service provider the message_id if it happens again.';
export const REMOVE_NUMBER = 'Remove the number from your list, or ask the recipient for the right one.';
export const SEND_LATER = 'Send the message again later.';
