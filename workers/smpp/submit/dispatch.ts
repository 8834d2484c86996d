import type { Db } from 'mongodb';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { findChains } from '../../../shared/carriers/chain.ts';
import { daytimeOpenings } from '../../../shared/carriers/routing/daytime.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { ClaimGates } from '../../../shared/messages/queue/claim-gates.ts';
import type { OutcomeSettler } from '../../../shared/messages/settlement/settle-outcomes.ts';
import type { ListenForChanges } from '../../../shared/platform/runtime/change-signal.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields, unexpectedErrorFields } from '../../../shared/platform/runtime/log.ts';
import { type Found, PollLoop } from '../../../shared/platform/runtime/poll-loop.ts';
import type { Claimer } from '../claim/claim.ts';
import type { Departures, Refusal } from '../claim/departures.ts';
import type { Serving } from '../claim/serving.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import type { Answers } from './answers.ts';
import type { BindSubmitter } from './bind-submitter.ts';
import type { Breaker } from './breaker.ts';
import type { CarrierRate } from './carrier-rate.ts';
import { type Frame, type Segment, Submission } from './submission.ts';

export interface DispatchOptions extends Pick<CarrierContext, 'carrier' | 'clock' | 'log' | 'metrics' | 'held'> {
  readonly claimer: Claimer;
  readonly serving: Pick<Serving, 'paths' | 'daytimeOf'>;
  readonly breaker: Breaker;
  readonly gates: ClaimGates;
  readonly departures: Departures;
  readonly chains: AccountChains;
  readonly outcomes: OutcomeSettler;
  readonly answers: Answers;
  readonly tokens: CarrierRate;
  readonly submitters: readonly BindSubmitter<Segment>[];
  readonly listen?: ListenForChanges | undefined;
  /** Why no carrier can take it, or what is written. `ownChain`: the account's telemarketers at this carrier. */
  encode(message: MessageDocument, ownChain: readonly string[] | undefined): readonly Frame[] | Refusal;
}

const MAX_CLAIM = 500;
/** The most outcomes that the store has not taken yet. At this limit nothing more is claimed. */
const MAX_UNSETTLED = 5_000;
/**
 * Messages are claimed at most this long before the rate allows them: tokens that come during a claim would be lost,
 * but claimed messages not written when the process is killed are unknown. The window still limits the writing.
 */
const AHEAD_MS = 200;
/** Claims take this part of that time at once: a claim of ten costs little more than a claim of one. */
const GROUP_MS = 50;
const IDLE_MS = 100;
/** Pause after a small claim, to let more messages come together. */
const GATHER_MS = 4;
/** A carrier is behind only after this time, because between two claims a few messages always wait. */
const BEHIND_MS = 1_500;

/** Claims what can be written now and gives it to the binds' windows. The store knows each claimed message. */
export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #loop: PollLoop;
  #tokenTimer: NodeJS.Timeout | undefined;
  #hadNoRoom = true;
  #stopping = false;
  /** Since when more messages may wait than there is room for. Undefined while the carrier takes everything. */
  #behindSince: Date | undefined;
  #paths: readonly string[] = [];

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#loop = new PollLoop({
      name: `dispatch:${options.carrier._id}`,
      idleMs: IDLE_MS,
      log: options.log,
      work: () => this.#round(),
      listen: (wake) => options.listen?.('queue/open', wake),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Since when more messages wait than the carrier takes. Undefined while it keeps up. */
  get behindSince(): Date | undefined {
    const since = this.#behindSince;
    if (since === undefined) return undefined;
    return this.#options.clock.now().getTime() - since.getTime() < BEHIND_MS ? undefined : since;
  }

  /** Call it when room has become free. Starts a round only if the last one found no room. */
  wakeForRoom(): void {
    if (this.#hadNoRoom) this.#loop.wake();
  }

  /** Starts a round if the state of other carriers has changed this one's paths. */
  reviewPaths(): void {
    if (this.#pathsNow().join() !== this.#paths.join()) this.#loop.wake();
  }

  /** Claims no more. Messages without a written segment go back to the queue. The others are sent to their end. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#loop.stop();
    clearTimeout(this.#tokenTimer);
    for (const submitter of this.#options.submitters) {
      const unbegun = submitter.withdraw(({ submission }) =>
        submission.answers.every((answer) => answer === undefined),
      );
      // Only messages whose first segment still waits. If some segments were written, the others must follow.
      const first = new Set(unbegun.filter(({ index }) => index === 0).map(({ submission }) => submission));
      submitter.add(unbegun.filter(({ submission }) => !first.has(submission)));
      for (const submission of first) this.#options.answers.requeueEncoded(submission);
    }
  }

  async #round(): Promise<Found> {
    const { claimer, breaker, tokens, outcomes, metrics, held } = this.#options;
    if (this.#stopping || !held() || outcomes.open >= MAX_UNSETTLED) return 'waiting';
    const slots = this.#usable().reduce((sum, { room }) => sum + room, 0);
    const room = Math.min(slots, this.#roomOfRate(), MAX_CLAIM);
    this.#hadNoRoom = room === 0;
    if (room === 0) {
      this.#behindSince ??= this.#options.clock.now();
      if (slots > 0) this.#wakeForTokens(tokens.waitMs());
      return 'idle';
    }
    const messages = await this.#claim(room);
    const tookAll = claimer.tookAll && breaker.state === 'closed';
    if (messages.length === 0) return tookAll ? 'idle' : 'waiting';
    metrics.claimSize.observe(messages.length);
    if (!(await this.#depart(messages))) return 'waiting';
    if (segmentsOf(messages) >= room / 2) return 'more';
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    return tookAll ? 'all' : 'more';
  }

  /** Also claims a few probes while the breaker tests a carrier that refused nearly everything. */
  async #claim(room: number): Promise<readonly MessageDocument[]> {
    const { carrier, claimer, serving, breaker, clock } = this.#options;
    const askedAt = clock.now();
    this.#paths = this.#pathsNow();
    const taken = await claimer.claim({ messages: room, segments: room }, { paths: this.#paths, fromLane: 0 });
    this.#behindSince = segmentsOf(taken) < room ? undefined : (this.#behindSince ?? askedAt);
    const { room: probeRoom, fromLane } = breaker.probes;
    if (taken.length > 0 || probeRoom <= 0) return taken;
    const wanted = { messages: Math.min(probeRoom, room), segments: room };
    const probes = await claimer.claim(wanted, { paths: serving.paths(carrier._id, 'up'), fromLane });
    breaker.claimedProbes(probes.length);
    return probes;
  }

  #pathsNow(): readonly string[] {
    const { carrier, serving, breaker } = this.#options;
    return serving.paths(carrier._id, breaker.state === 'closed' ? 'up' : 'tripped');
  }

  #wakeForTokens(waitMs: number): void {
    clearTimeout(this.#tokenTimer);
    this.#tokenTimer = setTimeout(() => this.wakeForRoom(), waitMs);
  }

  /** Zero while more waits for tokens than may leave before the next claim is due. */
  #roomOfRate(): number {
    const { tokens } = this.#options;
    const waiting = this.#waiting();
    if (waiting > tokens.soon(AHEAD_MS - GROUP_MS)) return 0;
    return Math.max(tokens.available(), tokens.soon(AHEAD_MS) - waiting);
  }

  #waiting(): number {
    return this.#options.submitters.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  #usable(): readonly BindSubmitter<Segment>[] {
    return this.#options.submitters.filter(({ takesSubmits }) => takesSubmits);
  }

  /**
   * Submits the claimed messages. Those that may not leave any more are refused, and those before the recipient's
   * daytime wait for it. Messages of mixed documents that a gate holds go back to the queue, where they get lines of
   * their account, which are passed over. False when the store did not answer: then all messages go back.
   */
  async #depart(claimed: readonly MessageDocument[]): Promise<boolean> {
    const { carrier, claimer, clock, gates, serving, departures, chains, answers, log } = this.#options;
    const openingOf = daytimeOpenings(clock.now());
    const messages: MessageDocument[] = [];
    for (const message of claimed) {
      const opening = openingOf([gates.daytimeOf(message.account), serving.daytimeOf(message)], message);
      if (claimer.isOfMixed(message._id) && gates.holds(message)) answers.requeue(message);
      else if (opening !== undefined) answers.defer(message, opening);
      else messages.push(message);
    }
    const asked = await Promise.all([departures.refusals(messages), chains.of(messages)]).catch((error: unknown) => {
      log.warn('departures_unknown', { carrier: carrier._id, messages: messages.length, ...errorFields(error) });
    });
    if (asked === undefined) {
      for (const message of messages) answers.requeue(message);
      return false;
    }
    const [refusals, ownChains] = asked;
    for (const message of messages) {
      const refusal = refusals.get(message._id);
      if (refusal === undefined) this.#submit(message, ownChains.get(message.account));
      else answers.refuse(message, refusal);
    }
    return true;
  }

  #submit(message: MessageDocument, ownChain: readonly string[] | undefined): void {
    const frames = this.#encode(message, ownChain);
    if ('code' in frames) {
      this.#options.answers.refuse(message, frames);
      return;
    }
    const submission = new Submission(message, frames);
    const [first, ...others] = this.#usable().filter(({ holdsMore }) => holdsMore);
    if (first === undefined || this.#stopping) this.#options.answers.requeueEncoded(submission);
    else others.reduce(roomier, first).add(submission.segments);
  }

  #encode(message: MessageDocument, ownChain: readonly string[] | undefined): readonly Frame[] | Refusal {
    try {
      return this.#options.encode(message, ownChain);
    } catch (error) {
      // A message that cannot be encoded must not stop the messages after it.
      this.#options.log.error('message_not_encoded', { message_id: message._id, ...unexpectedErrorFields(error) });
      return { code: 'not_encodable', reason: 'The message cannot be encoded' };
    }
  }
}

function segmentsOf(messages: readonly MessageDocument[]): number {
  return messages.reduce((sum, { segments }) => sum + segments, 0);
}

function roomier(best: BindSubmitter<Segment>, other: BindSubmitter<Segment>): BindSubmitter<Segment> {
  return other.free > best.free ? other : best;
}

const FRESH_MS = 2_000;
/** Includes accounts without a chain of their own. */
const REMEMBERED = 20_000;
const NONE: ReadonlyMap<AccountId, readonly string[]> = new Map();

/** Accounts' own chains of telemarketers at a carrier; read only if it wants the hash, at most once in two seconds. */
export class AccountChains {
  readonly #chains: FreshCache<AccountId, readonly string[]>;
  readonly #wanted: boolean;

  constructor({ db, clock, carrier }: { readonly db: Db; readonly clock: Clock; readonly carrier: CarrierDocument }) {
    const { _id, dlt = 'off' } = carrier;
    this.#wanted = dlt !== 'off' && dlt.hashTag !== undefined;
    this.#chains = new FreshCache({
      clock,
      freshMs: FRESH_MS,
      maxEntries: REMEMBERED,
      readMany: (accounts) => findChains(db, _id, accounts),
    });
  }

  /** An account that is not in the map uses the carrier's chain. Rejects with the store's error. */
  async of(messages: readonly MessageDocument[]): Promise<ReadonlyMap<AccountId, readonly string[]>> {
    if (!this.#wanted) return NONE;
    const accounts = messages.flatMap(({ entityId, account }) => (entityId === undefined ? [] : account));
    return accounts.length === 0 ? NONE : this.#chains.getMany(accounts);
  }
}
