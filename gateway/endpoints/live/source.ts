import type { Db } from 'mongodb';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

/** One kind of event of an account's stream. */
export interface AccountSource {
  /** The event's name, by which clients listen: `balance`. */
  readonly name: string;
  /**
   * The whole current value, small, by an index: it is read every two seconds while somebody looks. The same things must give the
   * same JSON, because only changes are sent. So it has no "now" and no ages in it.
   */
  read(deps: SourceDeps, account: AccountId): Promise<object>;
}

export interface SourceDeps {
  readonly db: Db;
  readonly clock: Clock;
}

/** One kind of event of the operators' stream. */
export interface OperatorSource extends Omit<AccountSource, 'read'> {
  read(deps: SourceDeps): Promise<object>;
}

/** A source about one account, or about everything: what the hub reads, once for all who look. */
export interface Reading {
  readonly name: string;
  /** Equal for equal readings. */
  readonly key: string;
  read(): Promise<object>;
}
