import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { makeStatement, monthIn, type Statement, type StatementSettings } from './statement.ts';

/**
 * A month that has ended, as it was when its statement was issued. The insert decides: from then on nobody computes it again, whatever
 * becomes of prices, settings and names.
 */
interface IssuedDocument {
  readonly _id: `${AccountId}:${string}`;
  readonly account: AccountId;
  /** The financial year of the issue, from April to March: `26-27`. */
  readonly series: string;
  /** Counts up in its series without gaps: no two have the same, and each is one more than was stored. */
  readonly serial: number;
  readonly issuedAt: Date;
  readonly statement: Statement;
}

/** `number`: not longer than 16 characters. */
export type IssuedStatement = Statement & { readonly number: string | null; readonly issued_on: string | null };

/** Clocks of gateways differ by less, and what is pending is entered: then nothing of the month comes any more. */
const SETTLED_MS = 3_600_000;

type Ask = { readonly month: string; readonly zone: string; readonly now: Date };

/**
 * The statement of a month in the installation's time zone: the one that was issued. If the month is over and its credits moved, and there
 * is none yet, it is issued now. In another zone, and of a month that is not over, it is computed and has no number.
 */
export async function readStatement(
  db: Db,
  settings: StatementSettings,
  account: AccountDocument,
  ask: Ask,
): Promise<IssuedStatement> {
  const isOwnZone = ask.zone === settings.statementZone;
  const known = isOwnZone ? await findIssued(db, account._id, ask.month) : undefined;
  if (known !== undefined) return shown(known);
  const made = await makeStatement(db, settings, account, ask);
  if (!isOwnZone || !hasMoved(made) || !isSettled(ask)) return { ...made, number: null, issued_on: null };
  return shown(await issue(db, account._id, made, ask));
}

/** Whether the end of the month is long enough ago. */
export function isSettled({ month, zone, now }: Ask): boolean {
  const end = monthIn(month, zone).bounds.at(-1) ?? now;
  return now.getTime() - end.getTime() >= SETTLED_MS;
}

/** A month without movements has no statement: whoever looks at months of long ago uses up no numbers. */
function hasMoved({ days }: Statement): boolean {
  return days.length > 0;
}

export async function findIssued(db: Db, account: AccountId, month: string): Promise<IssuedDocument | undefined> {
  return (await issuedOf(db).findOne({ _id: `${account}:${month}` })) ?? undefined;
}

/** The one with the last number, of one series or of all. The next number is one more, so it is never removed before there is a next. */
export async function findLastIssued(
  db: Db,
  of: Partial<Pick<IssuedDocument, 'series'>> = {},
): Promise<IssuedDocument | undefined> {
  const [last] = await issuedOf(db).find(of).sort({ series: -1, serial: -1 }).limit(1).toArray();
  return last;
}

/** Whoever comes second, for the account's month or for the number, reads what the first one has stored. */
async function issue(db: Db, account: AccountId, statement: Statement, { month, now }: Ask): Promise<IssuedDocument> {
  const _id = `${account}:${month}` as const;
  const series = financialYear(dayOf(statement.zone, now));
  for (;;) {
    const last = await findLastIssued(db, { series });
    const document = { _id, account, series, serial: (last?.serial ?? 0) + 1, issuedAt: now, statement };
    try {
      await issuedOf(db).insertOne(document);
      return document;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const known = await findIssued(db, account, month);
      if (known !== undefined) return known;
    }
  }
}

function shown({ series, serial, issuedAt, statement }: IssuedDocument): IssuedStatement {
  return { ...statement, number: `${series}/${serial}`, issued_on: dayOf(statement.zone, issuedAt) };
}

/** The financial year of India: `2026-04-01` and `2027-03-31` are in `26-27`. */
function financialYear(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  const first = month >= 4 ? year : year - 1;
  return [first, first + 1].map((one) => String(one % 100).padStart(2, '0')).join('-');
}

function dayOf(zone: string, at: Date): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(at);
}

function issuedOf(db: Db): Collection<IssuedDocument> {
  return db.collection('statements');
}
