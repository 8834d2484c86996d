export interface LinkCheckOptions {
  /** When nothing was read for so long, the peer is asked whether it is there. */
  readonly everyMs: number;
  readonly nowMs: number;
  /** Sends enquire_link. */
  enquire(timeoutMs: number): Promise<number | 'no_answer'>;
  onDead(): void;
}

const ANSWER_MS = 10_000;
/** Unanswered enquire_link in a row until the link counts as dead. */
const MISSES = 2;

/** Finds out that a link is dead: asks with enquire_link (SMPP 3.4 §4.11) when nothing was heard for a while. */
export class LinkCheck {
  readonly #options: LinkCheckOptions;
  #heardMs: number;
  #enquiring = false;
  #misses = 0;

  constructor(options: LinkCheckOptions) {
    this.#options = options;
    this.#heardMs = options.nowMs;
  }

  /** When the peer sent something last. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** The peer sent something, whatever it was. */
  heard(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#misses = 0;
  }

  tick(nowMs: number): void {
    if (!this.#enquiring && nowMs - this.#heardMs >= this.#options.everyMs) this.#enquire();
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
