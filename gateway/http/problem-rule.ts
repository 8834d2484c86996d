export interface ProblemRule {
  /**
   * `status_code`, in the same series as "1000" of the send result. 4xxx: the caller can correct it. 5xxx: we must.
   * Never used twice.
   */
  readonly number: string;
  /** HTTP status ("Errors"). 405, 408, 409, 410, 413, 415, 422, 431, 502 and 503 are our additions. */
  readonly status: number;
  readonly title: string;
  /** What to do. It is the `detail` of an answer that has nothing more precise to say. */
  readonly advice: string;
  /** Whether the same request can succeed when it is sent again unchanged. */
  readonly retryable: boolean;
}

export function fault(number: string, status: number, title: string, advice: string, retryable = false): ProblemRule {
  return { number, status, title, advice, retryable };
}
