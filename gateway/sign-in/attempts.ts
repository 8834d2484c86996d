import { hash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../shared/mongo/errors.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

/** Failed sign-ins of one name or one address, in `sign_in_failures`. */
interface FailuresDocument {
  /**
   * `address:203.0.113.7`; or `name:` and a hash of what was typed, because people also type passwords there. Tries from a network
   * in which the user has signed in before are counted apart: `name:203.0.113.7:` and the hash.
   */
  readonly _id: string;
  readonly count: number;
  /** No attempt before this time. */
  readonly until: Date;
  /** From then on nothing is remembered. */
  readonly expiresAt: Date;
}

type Times = Omit<FailuresDocument, '_id'>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const NAME_FREE = 5;
const NAME_PAUSE_MAX_MS = 15 * MINUTE_MS;
const NAME_REMEMBERED_MS = 60 * MINUTE_MS;
const ADDRESS_MAX = 20;
const ADDRESS_WINDOW_MS = 15 * MINUTE_MS;
const TRIES = 8;

export type Attempt =
  | { readonly kind: 'go'; readonly taken: readonly Taken[] }
  | { readonly kind: 'wait'; readonly seconds: number };

interface Taken {
  readonly id: string;
  readonly count: number;
}

/**
 * Limits attempts to guess passwords and codes, over all gateways. An attempt is counted before it is checked, so that many at once
 * get no further than one after the other; a good one is taken back. Limits end by themselves: nobody is kept out for ever.
 */
export class Attempts {
  readonly #failures: Collection<FailuresDocument>;
  readonly #clock: Clock;

  constructor(db: Db, clock: Clock) {
    this.#failures = db.collection('sign_in_failures');
    this.#clock = clock;
  }

  /** `name`: whose password is tried. `known`: the user has signed in from this network before; its attempts count apart. */
  async begin({
    network,
    name,
    known,
  }: {
    readonly network: string;
    readonly name?: string;
    readonly known?: boolean;
  }): Promise<Attempt> {
    const taken: Taken[] = [];
    const wanted = [{ id: `address:${network}`, next: nextOfAddress }];
    if (name !== undefined) {
      wanted.push({ id: nameId(name, known === true ? network : undefined), next: nextOfName });
    }
    for (const { id, next } of wanted) {
      const got = await this.#take(id, next);
      if ('seconds' in got) {
        await this.takeBack(taken);
        return { kind: 'wait', seconds: got.seconds };
      }
      taken.push(got);
    }
    return { kind: 'go', taken };
  }

  /** The attempt was good, or was not checked. */
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

  /** The user has signed in: earlier failures of the name are forgotten. Those of the address stay. */
  async forget(taken: readonly Taken[]): Promise<void> {
    await this.takeBack(taken.filter(({ id }) => id.startsWith('address:')));
    for (const { id } of taken) if (id.startsWith('name:')) await this.#failures.deleteOne({ _id: id });
  }

  /** The user has set a new password by a link: failures with the old one count no more. `networks`: those that count apart. */
  async forgetName(name: string, networks: readonly string[]): Promise<void> {
    for (const network of [undefined, ...networks]) await this.#failures.deleteOne({ _id: nameId(name, network) });
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

function nameId(name: string, network?: string): string {
  const digest = hash('sha256', name, 'hex');
  return network === undefined ? `name:${digest}` : `name:${network}:${digest}`;
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
