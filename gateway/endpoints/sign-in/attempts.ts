import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Collection, Db } from 'mongodb';
import { knownAt } from '../../../shared/people/users/store.ts';
import { type UserDocument, whereOf } from '../../../shared/people/users/user.ts';
import { isDuplicateKey } from '../../../shared/platform/mongo/errors.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { UserId } from '../../../shared/platform/runtime/ids.ts';
import type { RateCounter } from '../../access/counter.ts';
import type { Lane } from './passwords.ts';

/** Wrong passwords and codes of one name or one address, in `sign_in_failures`. */
interface FailuresDocument {
  /**
   * `address:203.0.113.7`; or `name:` and a hash, because people also type passwords there. In networks where the user
   * has signed in before: `name:203.0.113.7:` and the hash.
   */
  readonly _id: string;
  readonly count: number;
  readonly until: Date;
  readonly expiresAt: Date;
}

type Times = Omit<FailuresDocument, '_id'>;

/** Somebody who wants to show a password, a code or a link. */
export interface Trier {
  readonly network: string;
  /** Whose password it may be; or who was identified by a session or a valid link. */
  readonly users: readonly UserDocument[];
  /** The name that a password is tried for, and its account. */
  readonly name?: string;
  readonly where?: string | undefined;
  /** Identified by a session or a valid link. */
  readonly isProved?: boolean;
}

type Attempt =
  | { readonly kind: 'go'; readonly lane: Lane; readonly taken: readonly Taken[] }
  | { readonly kind: 'wait'; readonly seconds: number };

export interface Taken {
  readonly id: string;
  readonly count: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const NAME_FREE = 5;
const NAME_PAUSE_MAX_MS = 15 * MINUTE_MS;
const NAME_REMEMBERED_MS = 60 * MINUTE_MS;
const ADDRESS_MAX = 20;
const ADDRESS_WINDOW_MS = 15 * MINUTE_MS;
const TRIES = 8;

/**
 * Attempts a minute, failed or not, because each costs a hash of 15 ms: from an unknown network, for a name there, of a
 * user in a known network, of an account's users in one such network (`office`) and in all. An office can sign in 30
 * people a minute (each also sends a code) and leaves half of the account's limit to others. Identified users count
 * apart, so a stolen session keeps no colleague from signing in. One account takes at most a tenth of a core.
 */
const PER_MINUTE = { network: 60, name: 60, user: 60, office: 90, account: 180 } as const;

/**
 * Refusals are delayed by this: a client that retries at once costs two reads each time. 32 such clients slowed sends
 * of others from 16 to 158 ms (p50).
 */
const REFUSAL_HELD_MS = 1_000;

/**
 * Limits attempts to sign in over all gateways, and guesses at a password or code. A guess is counted before it is
 * checked, so parallel guesses gain nothing; a right one is taken back. Limits end by themselves. In networks where the
 * user or the account has signed in before, strangers' attempts elsewhere do not count (docs/decisions/0026).
 */
export class Attempts {
  readonly #failures: Collection<FailuresDocument>;
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #counter: RateCounter;

  constructor(db: Db, clock: Clock, counter: RateCounter) {
    this.#failures = db.collection('sign_in_failures');
    this.#db = db;
    this.#clock = clock;
    this.#counter = counter;
  }

  /** `go`: its hashes run in this lane. */
  async begin(trier: Trier): Promise<Attempt> {
    const { network, name, where, users } = trier;
    const user = await this.#known(trier);
    const waits = await this.#count(trier, user);
    if (waits !== undefined) return { kind: 'wait', seconds: waits };
    const lane = { key: user === undefined ? network : whereOf(user), known: user !== undefined };
    const taken: Taken[] = [];
    const wanted = [];
    if (user === undefined) wanted.push({ id: `address:${network}`, next: nextOfAddress });
    if (name !== undefined) wanted.push({ id: nameId(name, where, networkOf(users, network)), next: nextOfName });
    for (const { id, next } of wanted) {
      const got = await this.#take(id, next);
      if ('seconds' in got) {
        await this.takeBack(taken);
        return { kind: 'wait', seconds: got.seconds };
      }
      taken.push(got);
    }
    return { kind: 'go', lane, taken };
  }

  /**
   * Without a named account, the password counts as a guess at each user of the name. Users missing in the result have
   * had too many and must not be compared; the caller is not told, because names in other accounts are secret.
   */
  async beginEach({ network, users, where, name = '' }: Trier): Promise<ReadonlyMap<UserId, readonly Taken[]>> {
    if (where !== undefined) return new Map(users.map(({ _id }) => [_id, []]));
    // An unknown name must take as long: without this it is 3 ms faster.
    if (users.length === 0) await this.#take(nameId(name, 'nobody'), nextOfName);
    const taken = await Promise.all(
      users.map(async (user) => {
        const got = await this.#take(nameId(user.username, whereOf(user), networkOf([user], network)), nextOfName);
        return 'seconds' in got ? [] : [[user._id, [got]] as const];
      }),
    );
    return new Map(taken.flat());
  }

  /** The attempt was right, or was not checked. */
  async takeBack(taken: readonly Taken[]): Promise<void> {
    const until = this.#clock.now();
    for (const { id, count } of taken) {
      const { matchedCount } = await this.#failures.updateOne(
        { _id: id, count },
        { $set: { count: count - 1, until } },
      );
      if (matchedCount === 1) continue;
      await this.#failures.updateOne({ _id: id, count: { $gt: 0 } }, { $inc: { count: -1 }, $set: { until } });
    }
  }

  async forget(taken: readonly Taken[]): Promise<void> {
    await this.takeBack(taken.filter(({ id }) => id.startsWith('address:')));
    for (const { id } of taken) if (id.startsWith('name:')) await this.#failures.deleteOne({ _id: id });
  }

  /** After a new password was set by a link: failures with the old one no longer count. */
  async forgetUser(user: UserDocument): Promise<void> {
    for (const where of [undefined, whereOf(user)]) {
      for (const network of [undefined, ...(user.networks ?? [])]) {
        await this.#failures.deleteOne({ _id: nameId(user.username, where, network) });
      }
    }
  }

  /** The user whose network this is known to be: the user's own, or the account's. Always asks the store. */
  async #known({ network, users, isProved }: Trier): Promise<UserDocument | undefined> {
    const where = await knownAt(this.#db, network, users);
    if (isProved) return users[0];
    const own = users.find(({ networks }) => networks?.includes(network));
    return own ?? users.find((user) => whereOf(user) === where);
  }

  /** Returns the seconds to wait if there were too many. */
  async #count(trier: Trier, user: UserDocument | undefined): Promise<number | undefined> {
    const nowMs = this.#clock.monotonicMs();
    for (const [what, limit] of countsOf(trier, user)) {
      const { rank, endsMs } = await this.#counter.count(`sign-in:${what}`, limit);
      if (rank <= limit) continue;
      await sleep(REFUSAL_HELD_MS);
      return Math.max(Math.ceil((endsMs - nowMs) / SECOND_MS), 1);
    }
    return undefined;
  }

  async #take(
    id: string,
    next: (before: Times | undefined, nowMs: number) => Times,
  ): Promise<Taken | { readonly seconds: number }> {
    for (let tries = 1; tries <= TRIES; tries++) {
      const nowMs = this.#clock.now().getTime();
      const found = await this.#failures.findOne({ _id: id });
      if (found !== null && found.until.getTime() > nowMs) {
        return { seconds: Math.ceil((found.until.getTime() - nowMs) / SECOND_MS) };
      }
      const before = found !== null && found.expiresAt.getTime() > nowMs ? found : undefined;
      const after = next(before, nowMs);
      if (found === null ? await this.#insert({ _id: id, ...after }) : await this.#replace(found, after)) {
        return { id, count: after.count };
      }
    }
    return { seconds: 1 };
  }

  async #insert(first: FailuresDocument): Promise<boolean> {
    try {
      await this.#failures.insertOne(first);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async #replace({ _id, count, until }: FailuresDocument, after: Times): Promise<boolean> {
    const { matchedCount } = await this.#failures.updateOne({ _id, count, until }, { $set: after });
    return matchedCount === 1;
  }
}

/** What an attempt counts for, with the limits. `user`: for whom the network is known. The first refusal ends it. */
function countsOf(
  { network, name, where, isProved = false }: Trier,
  user: UserDocument | undefined,
): readonly (readonly [string, number])[] {
  if (user === undefined) {
    const ofName = name === undefined ? [] : [[nameId(name, where), PER_MINUTE.name] as const];
    return [[network, PER_MINUTE.network], ...ofName];
  }
  const account = whereOf(user);
  if (isProved) {
    return [
      [`proved:${user._id}`, PER_MINUTE.user],
      [`proved:${account}`, PER_MINUTE.account],
    ];
  }
  return [
    [`${user._id}@${network}`, PER_MINUTE.user],
    [`${account}@${network}`, PER_MINUTE.office],
    [account, PER_MINUTE.account],
  ];
}

/** `name` as typed. `where`: the named account. `network`: its attempts count apart. */
function nameId(name: string, where: string | undefined, network?: string): string {
  const digest = hash('sha256', where === undefined ? name : `${where} ${name}`, 'hex');
  return network === undefined ? `name:${digest}` : `name:${network}:${digest}`;
}

/** The network, if one of the users has signed in there before. */
function networkOf(users: readonly UserDocument[], network: string): string | undefined {
  return users.some(({ networks }) => networks?.includes(network)) ? network : undefined;
}

/** Five are free. Then a pause of a second, which doubles with each failure. */
function nextOfName(before: Times | undefined, nowMs: number): Times {
  const count = (before?.count ?? 0) + 1;
  const pauseMs = count < NAME_FREE ? 0 : Math.min(SECOND_MS * 2 ** (count - NAME_FREE), NAME_PAUSE_MAX_MS);
  return { count, until: new Date(nowMs + pauseMs), expiresAt: new Date(nowMs + pauseMs + NAME_REMEMBERED_MS) };
}

function nextOfAddress(before: Times | undefined, nowMs: number): Times {
  const count = (before?.count ?? 0) + 1;
  const expiresAt = before?.expiresAt ?? new Date(nowMs + ADDRESS_WINDOW_MS);
  return { count, until: count >= ADDRESS_MAX ? expiresAt : new Date(nowMs), expiresAt };
}
