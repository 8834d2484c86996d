import type { Db } from 'mongodb';
import { HOUR_MS } from '../../../shared/messages/statistics.ts';
import {
  type HoldDocument,
  holdCollection,
  readHolds,
  type Seen,
  showHeld,
} from '../../../shared/messages/traffic/hold.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { Log } from '../../../shared/platform/runtime/log.ts';
import { readBraked, readPrefixHours, recentHours, USUAL_DAYS } from '../statistics/prefix-hours.ts';
import { byPrefix, MESSAGES_MIN, suspicious, type Usual, usualIn } from './judge.ts';

const DAY_MS = 24 * HOUR_MS;
/** More than so many prefixes of an account are not held: that is no attack on some numbers. */
const HELD_MAX = 200;

/** Looks at the traffic of accounts with a brake, and holds the prefixes that look like fraud (shared/messages/traffic/hold.ts). */
export class Brake {
  readonly #deps: { readonly db: Db; readonly clock: Clock; readonly log: Log };
  /** What is usual changes by the hour. `fromMs`: the beginning of the hours that are compared with it. */
  readonly #usual = new Map<AccountId, { readonly fromMs: number; readonly usual: Usual }>();

  constructor(deps: { readonly db: Db; readonly clock: Clock; readonly log: Log }) {
    this.#deps = deps;
  }

  async run(mayGoOn: () => boolean): Promise<void> {
    const braked = await readBraked(this.#deps.db);
    const ids = new Set(braked.map(({ _id }) => _id));
    for (const known of this.#usual.keys()) if (!ids.has(known)) this.#usual.delete(known);
    for (const account of braked) {
      if (!mayGoOn()) return;
      await this.#look(account);
    }
  }

  async #look({ _id, brake, heldPrefixes = [] }: Pick<AccountDocument, '_id' | 'brake' | 'heldPrefixes'>) {
    const { db, clock } = this.#deps;
    const now = clock.now();
    const { from, end } = recentHours(now);
    const recent = byPrefix(await readPrefixHours(db, _id, from, end));
    // Nothing can be found among fewer, and what is usual need not be read.
    if ([...recent.values()].some(({ messages }) => messages >= MESSAGES_MIN)) {
      const found = suspicious(recent, await this.#usualOf(_id, from));
      for (const [prefix, seen] of found) await this.#tell(_id, prefix, seen, brake === 'hold', now);
    }
    const held = (await readHolds(db, [_id])).filter(({ state }) => state === 'held').map(({ prefix }) => prefix);
    const gone = heldPrefixes.filter((prefix) => !held.includes(prefix));
    const come = held.filter((prefix) => !heldPrefixes.includes(prefix));
    if (gone.length + come.length > 0) await showHeld(db, _id, { gone, come });
  }

  /** What a person has released is trusted until its document is gone. */
  async #tell(account: AccountId, prefix: string, seen: Seen, hold: boolean, now: Date): Promise<void> {
    const { db, log } = this.#deps;
    const holds = holdCollection(db);
    const _id: HoldDocument['_id'] = `${account}:${prefix}`;
    const mayHold = hold && (await holds.countDocuments({ account, state: 'held' }, { limit: HELD_MAX })) < HELD_MAX;
    const until = new Date(now.getTime() + DAY_MS);
    const told = {
      ...{ prefix, messages: seen.messages, usual_messages: seen.usualMessages },
      ...{ delivered: seen.delivered, usual_delivered: seen.usualDelivered },
      ...{ converted: seen.converted ?? null, usual_converted: seen.usualConverted ?? null },
    };
    const act = { event: mayHold ? 'traffic.held' : 'traffic.suspicious', at: now, told };
    const first: HoldDocument = {
      ...{ _id, account, prefix, since: now, seen, unannounced: [act] },
      ...(mayHold ? { state: 'held' as const } : { state: 'watched' as const, expiresAt: until }),
    };
    if ((await insertNew(db, 'traffic_holds', [first])) === 0) {
      const change = mayHold
        ? {
            ...{ $set: { state: 'held' as const, since: now, seen }, $unset: { expiresAt: '' as const } },
            $push: { unannounced: act },
          }
        : { $set: { expiresAt: until } };
      const { modifiedCount } = await holds.updateOne({ _id, state: 'watched' }, change);
      if (!mayHold || modifiedCount === 0) return;
    }
    log.warn(mayHold ? 'traffic_held' : 'traffic_suspicious', { account, prefix, ...seen });
  }

  async #usualOf(account: AccountId, from: Date): Promise<Usual> {
    const known = this.#usual.get(account);
    if (known?.fromMs === from.getTime()) return known.usual;
    const since = new Date(from.getTime() - USUAL_DAYS * DAY_MS);
    const usual = usualIn(await readPrefixHours(this.#deps.db, account, since, from));
    this.#usual.set(account, { fromMs: from.getTime(), usual });
    return usual;
  }
}
