import type { ConditionDocument } from '../../shared/conditions/condition.ts';
import { conditionsOf, PRESENT } from '../../shared/conditions/store.ts';
import { CONDITION_NOTICES } from '../../shared/events/catalogue.ts';
import { findAccount } from '../../shared/money/accounts/store.ts';
import type { Told } from '../../shared/platform/runtime/act.ts';
import { type AnnounceDeps, tell } from './announce-acts.ts';

/** What is over within this time is told to nobody: a carrier that binds again, a post that is repeated. */
const HOLDS_MS = 60_000;

/** Other words of these are other news. */
const NEWS: readonly string[] = ['provider.notice'];

type Noticed = ConditionDocument & { readonly name: (typeof CONDITION_NOTICES)[number] };

/**
 * Tells of conditions that began and were not told of yet; each remembers that it was (`told`). One that comes and goes is told once
 * in an hour. If the process dies behind the telling, it is told again, which adds nothing: ids derive from the condition and its
 * beginning. Returns how many were told.
 */
export async function announceConditions(deps: AnnounceDeps): Promise<number> {
  const { db, clock } = deps;
  const now = clock.now();
  const conditions = conditionsOf(db);
  const found = await conditions
    .find<Noticed>({
      ...{ ...PRESENT, since: { $lte: new Date(now.getTime() - HOLDS_MS) } },
      ...{ name: { $in: [...CONDITION_NOTICES] }, $or: [{ told: { $exists: false } }, { name: { $in: NEWS } }] },
    })
    .toArray();
  let count = 0;
  for (const condition of found) {
    if (condition.told?.words === condition.words) continue;
    const { _id, name: event, account, since: at, concerns, words } = condition;
    const concern = account === undefined ? concerns.operator : concerns.account;
    // A carrier that has lost some of its binds is something to look at, and wakes nobody.
    if (concern === undefined || (account === undefined && concern.severity !== 'urgent')) continue;
    const told = { ...(await membersOf(deps, condition)), words, what_to_do: concern.todo };
    const subject = NEWS.includes(event) ? `${_id} ${words}` : _id;
    if (!(await tell(deps, { event, account, subject, at, told }))) continue;
    await conditions.updateOne({ _id, since: at }, { $set: { told: { at: now, words } } });
    count++;
  }
  return count;
}

/** The members of its event before the words, in the order of the catalogue. */
async function membersOf(
  { db }: AnnounceDeps,
  { name, account, subject }: Noticed,
): Promise<Readonly<Record<string, Told>>> {
  if (name === 'balance.low' && account !== undefined) {
    const found = await findAccount(db, account);
    return { balance: found?.balance ?? 0, threshold: found?.lowBalance ?? null };
  }
  if (subject.kind === 'webhook') return { webhook_id: subject.id };
  return subject.kind === 'carrier' ? { carrier_id: subject.id } : {};
}
