import { type ClientSession, type ClientSessionOptions, MongoClient } from 'mongodb';

/**
 * A client whose operations share one session. The driver makes a session for every operation that is given none, with its
 * listeners, its transaction and a place in a pool: 17 of 182 µs of a command (docs/performance.md). A session of its own is of
 * use to an operation only for transactions, the driver's retries of writes and causal reads, and the product has none of them
 * (connect.ts, docs/mongodb.md). A server takes many commands of one session at a time.
 */
export class OneSessionClient extends MongoClient {
  #shared: ClientSession | undefined;

  override startSession(options?: ClientSessionOptions & { readonly explicit?: boolean }): ClientSession {
    // The driver asks for a session of its own by `explicit: false`, which its types leave out.
    if (options?.explicit !== false) return super.startSession(options);
    if (this.#shared === undefined || this.#shared.hasEnded) {
      this.#shared = super.startSession({ explicit: false } as ClientSessionOptions);
      // `bulkWrite` ends the session that it was given, and would end it for every command on its way.
      this.#shared.endSession = async () => {};
    }
    return this.#shared;
  }

  /** Ends the session too. */
  override close(force?: boolean): Promise<void> {
    // Without its own method it has that of its class again, which the driver calls for every session.
    if (this.#shared !== undefined) Reflect.deleteProperty(this.#shared, 'endSession');
    return super.close(force);
  }
}
