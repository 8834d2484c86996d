import type { Db } from 'mongodb';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { LIVE } from '../../shared/money/accounts/store.ts';
import { hasMoved } from '../../shared/money/statements/periods.ts';
import {
  findIssued,
  isSettled,
  monthIn,
  readStatement,
  type StatementSettings,
} from '../../shared/money/statements/statement.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

export interface IssueDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly settings: StatementSettings;
  mayGoOn(): boolean;
}

/** The month before the running one, in the time zone of the statements. */
export function lastMonth(now: Date, { statementZone: timeZone }: StatementSettings): string {
  const [year = 0, month = 0] = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit' })
    .format(now)
    .split('-')
    .map(Number);
  return new Date(Date.UTC(year, month - 2)).toISOString().slice(0, 7);
}

/**
 * Issues the statements of a month that nobody has asked for yet, one account after the other, so that a later price or another address
 * changes none of them. `isDone`: it got through all accounts, and need not be run again.
 */
export async function issueMonth(deps: IssueDeps, month: string): Promise<{ issued: number; isDone: boolean }> {
  const { db, clock, settings, mayGoOn } = deps;
  const ask = { month, zone: settings.statementZone, now: clock.now() };
  if (!isSettled(ask)) return { issued: 0, isDone: false };
  const { bounds } = monthIn(month, ask.zone);
  const [from, to] = [bounds[0] ?? ask.now, bounds.at(-1) ?? ask.now];
  const accounts = db
    .collection<AccountDocument>('accounts')
    .find({ ...LIVE, 'closed.erasedAt': null as never }, { projection: { pending: 0 } })
    .sort({ _id: 1 });
  let issued = 0;
  for await (const account of accounts) {
    if (!mayGoOn()) return { issued, isDone: false };
    if ((await findIssued(db, account._id, month)) !== undefined) continue;
    // Of most accounts two looks into the ledger are enough; a whole statement is some hundred.
    if (!(await hasMoved(db, account._id, from, to))) continue;
    const { number } = await readStatement(db, settings, account, ask);
    if (number !== null) issued++;
  }
  return { issued, isDone: true };
}
