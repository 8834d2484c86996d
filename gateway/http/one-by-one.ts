/**
 * Runs pieces of work one after the other, in the order in which they came. For work in slices: several that take theirs in the
 * same turn of the event loop would hold it together.
 */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as `work` does; the next one begins either way. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.then(
      () => {},
      () => {}, // told to whoever asked for it
    );
    return mine;
  }
}
