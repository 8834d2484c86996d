import type { Db } from 'mongodb';
import { type FindHere, type WriteGuard, WriteRefused } from '../mongo/guarded-connection.ts';
import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log } from '../runtime/log.ts';
import { LONG_AGO, type Moment, momentOf, msSince } from '../runtime/moment.ts';
import { thisProcess } from '../runtime/process-identity.ts';
import { within } from '../runtime/within.ts';
import { type AccessDocument, noteClosed, readAccess, readAccessHere, STATE_COLLECTION } from './access-store.ts';

/** What a process does while the store may be written to. Each is called when the one before has ended. */
export interface WritingParts {
  /** Ends what writes, and stores what is in hand. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/** Eight processes look, so a shorter pause is a good part of what an idle installation does. */
const LOOK_MS = 3_000;
/** A process that was frozen, or had no store, for this long looks before it writes again. */
const FRESH_MS = 5_000;
/** As long as a process has for its stop, which does the same (runtime/lifecycle.ts). */
const PAUSE_MS = 15_000;
/** A read without an answer for this long is sent on another connection, too: its own may be dead. */
const ANSWER_MS = 2_000;
/** Longer than a command without an answer lasts (mongo/connect.ts). */
const IN_FLIGHT_MS = 45_000;

/**
 * Knows whether this process may write to the store, and refuses its writes otherwise. It looks every three seconds, so no
 * request costs a read.
 *
 * | state   | writes                                 | it becomes                                                                     |
 * | ------- | -------------------------------------- | ------------------------------------------------------------------------------ |
 * | open    | pass, if it has looked in the last 5 s | closing: when it sees that the store is read-only; closed: when it looked late |
 * | closing | pass: what is in hand is stored        | closed: when the parts have paused, after `PAUSE_MS` at the latest             |
 * | closed  | are refused                            | open: when the store is open and the parts have paused; then they resume       |
 *
 * When a process is closed and its last write is answered, it says so in the store (`noteClosed`).
 */
export class WriteGate implements WriteGuard {
  readonly #clock: Clock;
  readonly #log: Log;
  #db: Db | undefined;
  #parts: WritingParts | undefined;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #looked: Moment = LONG_AGO;
  #looking: Promise<void> | undefined;
  #turn: Promise<void> = Promise.resolve();
  #paused: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** The period for which the store knows that this process is closed. */
  #noted: string | undefined;
  #onFailure: (error: unknown) => void = () => {};
  #inFlight = 0;
  #allAnswered: (() => void) | undefined;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether new work may begin. */
  get open(): boolean {
    return this.#state === 'open';
  }

  /** Looks for the first time. Returns why the store is closed. Until then everything passes. */
  async begin(db: Db): Promise<AccessDocument | undefined> {
    const access = await readAccess(db);
    this.#looked = momentOf(this.#clock);
    if (access !== undefined) {
      this.#state = 'closed';
    }
    this.#db = db;
    return access;
  }

  /**
   * Lets the parts begin if the gate is open, then looks again and again and lets them pause and resume. Rejects when they cannot
   * begin; `onFailure` is told when they cannot resume.
   */
  async follow(parts: WritingParts, onFailure: (error: unknown) => void): Promise<void> {
    this.#parts = parts;
    this.#onFailure = onFailure;
    const again = (): void => {
      this.#timer = setTimeout(async () => {
        await this.#look().catch((error: unknown) => this.#log.debug('access_unknown', errorFields(error)));
        if (!this.#stopped) again();
      }, LOOK_MS);
    };
    again();
    const first = this.open ? parts.resume() : Promise.resolve();
    this.#turn = first.catch(() => {});
    await first;
  }

  /** Looks at once. False: the store has been closed since, and nothing new may begin. */
  async isOpenNow(): Promise<boolean> {
    await this.#look();
    return this.open;
  }

  /** Looks no more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async write(collection: string, send: () => Promise<unknown>, find: FindHere): Promise<unknown> {
    if (collection === STATE_COLLECTION || this.#db === undefined) return send();
    // Again when the answer itself came late.
    while (this.#state === 'open' && this.#isLate) await this.#lookOnce(() => readAccessHere(find));
    if (this.#state === 'closed') throw new WriteRefused('The store is read-only.');
    this.#inFlight += 1;
    try {
      return await send();
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#allAnswered?.();
    }
  }

  get #isLate(): boolean {
    return msSince(this.#looked, this.#clock) > FRESH_MS;
  }

  /** One look at a time, for all who wait for it. Not for writes: it may wait for their connections. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookOnce(read?: () => Promise<AccessDocument | undefined>): Promise<void> {
    if (this.#db === undefined) return;
    const late = this.#isLate;
    const began = momentOf(this.#clock);
    const access = await (read?.() ?? askAccess(this.#db));
    if (began.monotonicMs > this.#looked.monotonicMs) this.#looked = began;
    if (access === undefined) {
      if (this.#state !== 'open') this.#then(() => this.#openAgain());
    } else if (this.#state === 'open') {
      // Others may have gone on without a process that was silent for so long: it may store nothing more.
      this.#state = late ? 'closed' : 'closing';
      this.#then(() => this.#close(access.period));
    } else if (this.#state === 'closed') this.#then(() => this.#note(access.period));
  }

  /** Turns come one after the other; a pause may still last when the store is opened again. */
  #then(turn: () => Promise<void>): void {
    this.#turn = this.#turn.then(turn).catch((error: unknown) => this.#onFailure(error));
  }

  async #close(period: string): Promise<void> {
    this.#log.info('store_read_only', { state: this.#state });
    this.#paused = this.#parts?.pause();
    await within(PAUSE_MS, Promise.resolve(this.#paused));
    this.#state = 'closed';
    await within(IN_FLIGHT_MS, this.#answered());
    await this.#note(period);
  }

  /**
   * If the store does not answer, the next look does it. A turn before this one may have opened: then this process writes, and
   * must not say that it is closed.
   */
  async #note(period: string): Promise<void> {
    if (this.#db === undefined || this.#noted === period || this.#state !== 'closed') return;
    try {
      await noteClosed(this.#db, thisProcess(), period);
      this.#noted = period;
    } catch (error) {
      this.#log.debug('closed_not_noted', errorFields(error));
    }
  }

  /**
   * Waits for a pause that took longer than `PAUSE_MS`: what still ends must not meet its successor. Then reads the access once
   * more: the store may have been closed again meanwhile.
   */
  async #openAgain(): Promise<void> {
    await this.#paused;
    if (this.#state === 'open' || this.#stopped || (await this.#isStillClosed())) return;
    this.#state = 'open';
    this.#log.info('store_writable');
    await this.#parts?.resume();
  }

  /** True also when the store does not answer: the next look asks again. */
  async #isStillClosed(): Promise<boolean> {
    try {
      return this.#db !== undefined && (await askAccess(this.#db)) !== undefined;
    } catch (error) {
      this.#log.debug('access_unknown', errorFields(error));
      return true;
    }
  }

  async #answered(): Promise<void> {
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#allAnswered = resolve;
    });
  }
}

/** The first answer counts. Rejects when the first read fails. */
async function askAccess(db: Db): Promise<AccessDocument | undefined> {
  const asked: Promise<{ readonly access: AccessDocument | undefined }>[] = [];
  for (;;) {
    asked.push(readAccess(db).then((access) => ({ access })));
    const answer = await within(ANSWER_MS, Promise.race(asked));
    if (answer !== undefined) return answer.access;
  }
}
