export interface LinkCheckOptions {
  /** When nothing was read for this time, enquire_link asks whether the peer is there. */
  readonly everyMs: number;
  readonly nowMs: number;
  /** Sends enquire_link. Resolves to the answer's command_status. */
  enquire(timeoutMs: number): Promise<number | 'no_answer'>;
  onDead(): void;
}

const ANSWER_MS = 10_000;
/** The link counts as dead after this many unanswered enquire_link in a row. */
const MISSES = 2;

/** Detects a dead link: after a while without any PDU it sends enquire_link (SMPP 3.4 §4.11). */
export class LinkCheck {
  readonly #options: LinkCheckOptions;
  #heardMs: number;
  #enquiring = false;
  #misses = 0;

  constructor(options: LinkCheckOptions) {
    this.#options = options;
    this.#heardMs = options.nowMs;
  }

  /** When the peer last sent something. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** Call it for every PDU that the peer sends. */
  heard(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#misses = 0;
  }

  /**
   * `asking`: an enquire_link is out, and nobody knows whether the peer is there. What is sent to a dead link is lost.
   * `overdueSinceMs`: when the oldest request was sent that should have been answered by now. If nothing was heard since, the peer
   * is asked at once.
   */
  tick(nowMs: number, overdueSinceMs: number | undefined): 'asking' | 'alive' {
    const silent = nowMs - this.#heardMs >= this.#options.everyMs || (overdueSinceMs ?? -1) >= this.#heardMs;
    if (!this.#enquiring && silent) this.#enquire();
    return this.#enquiring ? 'asking' : 'alive';
  }

  #enquire(): void {
    const { enquire, everyMs, onDead } = this.#options;
    this.#enquiring = true;
    void enquire(Math.min(ANSWER_MS, everyMs)).then((answer) => {
      this.#enquiring = false;
      if (answer !== 'no_answer') return;
      this.#misses += 1;
      if (this.#misses >= MISSES) onDead();
      else this.#enquire();
    });
  }
}
