import type { Collection, Db } from 'mongodb';
import { CHANNEL_NAMES, type ChannelName } from '../../messages/document/channel.ts';
import { beginOf, type Day, dayAfter, daysOf, readReport } from '../../messages/report.ts';
import type { Config } from '../../platform/config/settings.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { isoTimestamp } from '../../platform/runtime/clock.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { type GstState, leviesOf, type Sum, sellerState, stateOf, sumOf } from './credit-price.ts';
import { type Movements, readPeriods } from './periods.ts';

/**
 * The statement of a month: what an account bought and used, with these particulars of a tax invoice (rule 46 of the
 * CGST Rules 2017): name, address and GSTIN of both parties, or the state of a buyer without one (a, d, e, f), serial
 * number of the financial year (b), date of issue (c), code (g) and description (h) of the service, quantity, value,
 * rate and amount of each tax (i to m), place of supply (n). No signature (q), no QR code of the invoice portal (r),
 * nothing of reverse charge (p). The seller decides whether it is the invoice: credits are paid in advance, and a
 * receipt or an invoice of that may be due before the month ends. Exports and SEZ are not provided for.
 *
 * The API shows this form, and issued statements are stored in it.
 */
export interface Statement {
  readonly account_id: string;
  readonly account_name: string;
  readonly seller: readonly string[];
  readonly buyer: Buyer;
  readonly month: string;
  readonly zone: string;
  readonly from: Day;
  readonly to: Day;
  readonly complete: boolean;
  readonly opening_balance: number;
  readonly top_ups: number;
  readonly corrections: number;
  readonly usage: number;
  readonly refunds: number | null;
  readonly closing_balance: number;
  readonly days: readonly (ShownMovements & { readonly day: Day; readonly balance: number })[];
  readonly credits: readonly Credit[];
  readonly credits_more: boolean;
  readonly traffic: readonly Traffic[];
  readonly money: Money | null;
}

interface Buyer {
  readonly name: string;
  readonly address: readonly string[];
  readonly gstin: string | null;
  readonly state: GstState | null;
}

interface ShownMovements {
  readonly top_ups: number;
  readonly corrections: number;
  readonly usage: number;
  readonly refunds: number | null;
}

interface Credit {
  readonly at: string;
  readonly reason: 'top_up' | 'correction';
  readonly amount: number;
  readonly reference: string | null;
  readonly note: string | null;
}

interface Traffic {
  readonly channel: ChannelName;
  readonly route: string | null;
  readonly country: string | null;
  readonly messages: number;
  readonly segments: number;
  readonly credits: number;
}

interface Money {
  readonly currency: string;
  readonly credit_price: string;
  readonly tax_name: string | null;
  readonly tax_percent: string | null;
  readonly tax_number: string | null;
  readonly service_code: string | null;
  readonly place_of_supply: GstState | null;
  readonly top_ups: Sum;
  readonly usage: Sum;
}

export type StatementSettings = Pick<
  Config,
  | 'statementSeller'
  | 'statementTaxName'
  | 'statementTaxPercent'
  | 'statementTaxNumber'
  | 'statementServiceCode'
  | 'statementZone'
>;

/** Top-ups and corrections shown one by one; rows of traffic. */
export const CREDITS_SHOWN = 500;
const TRAFFIC_SHOWN = 500;

/** The days of a month, when each begins, and the end of the last. */
export function monthIn(month: string, zone: string): { readonly days: readonly Day[]; readonly bounds: Date[] } {
  const dayOf = daysOf(zone);
  const first = `${month}-01`;
  const days: Day[] = [];
  for (let day = first; day.startsWith(month); day = dayAfter(day)) days.push(day);
  const bounds = [...days, dayAfter(days.at(-1) ?? first)].map((day) => beginOf(day, dayOf));
  return { days, bounds };
}

/** As things are now. `month` has begun. */
async function makeStatement(
  db: Db,
  settings: StatementSettings,
  account: AccountDocument,
  { month, zone, now }: { readonly month: string; readonly zone: string; readonly now: Date },
): Promise<Statement> {
  const { days, bounds } = monthIn(month, zone);
  const [from = '', to = ''] = [days[0], days.at(-1)];
  const asked = { account: account._id, zone, from, to, filter: {} };
  const [ledger, report] = await Promise.all([
    readPeriods(db, account._id, bounds),
    readReport(db, { ...asked, groupBy: ['channel', 'route', 'country'] }),
  ]);
  const { whole: sums } = ledger;
  return {
    ...{ account_id: account._id, account_name: account.name, seller: settings.statementSeller },
    buyer: buyerOf(account),
    ...{ month, zone, from, to, complete: now >= (bounds.at(-1) ?? now) },
    opening_balance: sums.opening,
    ...movements(sums),
    closing_balance: sums.closing,
    days: ledger.parts.flatMap((part, i) => {
      const isStill = [part.topUps, part.corrections, part.usage, part.refunds ?? 0].every((one) => one === 0);
      return isStill ? [] : [{ day: days[i] ?? '', ...movements(part), balance: part.closing }];
    }),
    credits: ledger.credits.slice(0, CREDITS_SHOWN).map(({ at, reason, amount, reference, note }) => ({
      at: isoTimestamp(at),
      reason: reason === 'correction' ? reason : 'top_up',
      amount,
      ...{ reference: reference ?? null, note: note ?? null },
    })),
    credits_more: ledger.credits.length > CREDITS_SHOWN,
    traffic: report.rows.slice(0, TRAFFIC_SHOWN).map(({ values, messages, segments, credits }) => ({
      channel: CHANNEL_NAMES.find((name) => name === values.channel) ?? 'sms',
      ...{ route: values.route ?? null, country: values.country ?? null },
      ...{ messages, segments, credits },
    })),
    money: moneyOf(settings, account, sums),
  };
}

function movements({ topUps, corrections, usage, refunds }: Movements): ShownMovements {
  return { top_ups: topUps, corrections, usage, refunds: refunds ?? null };
}

function buyerOf({ name, billing = {} }: Pick<AccountDocument, 'name' | 'billing'>): Buyer {
  const state = stateOf(billing.gstin ?? billing.state ?? '');
  return {
    name: billing.name ?? name,
    address: billing.address ?? [],
    gstin: billing.gstin ?? null,
    state: state ?? null,
  };
}

/** Place of supply: the buyer's state, or else the seller's (IGST Act 2017, section 12 (2)). */
function moneyOf(
  { statementTaxName, statementTaxPercent, statementTaxNumber, statementServiceCode }: StatementSettings,
  account: AccountDocument,
  { topUps, corrections, usage, refunds = 0 }: Movements,
): Money | null {
  const { creditPrice, currency } = account;
  if (creditPrice === undefined) return null;
  const rule = { name: statementTaxName, percent: statementTaxPercent, number: statementTaxNumber };
  const seller = sellerState(rule);
  const place = seller && (buyerOf(account).state ?? seller);
  const levies = leviesOf(rule, place);
  const isTaxed = rule.name !== '';
  const filled = (text: string): string | null => (isTaxed && text !== '' ? text : null);
  return {
    ...{ currency, credit_price: creditPrice },
    tax_name: filled(rule.name),
    tax_percent: filled(rule.percent),
    tax_number: filled(rule.number),
    service_code: filled(statementServiceCode),
    place_of_supply: place ?? null,
    top_ups: sumOf(topUps + corrections, creditPrice, levies, currency),
    usage: sumOf(-usage - refunds, creditPrice, levies, currency),
  };
}

/** A month as it was at the issue. The insert decides: from then on it is never computed again. */
interface IssuedDocument {
  readonly _id: `${AccountId}:${string}`;
  readonly account: AccountId;
  /** The financial year of the issue, from April to March: `26-27`. */
  readonly series: string;
  /** Counts up in its series without gaps. */
  readonly serial: number;
  readonly issuedAt: Date;
  readonly statement: Statement;
}

/** `number`: not longer than 16 characters. */
export type IssuedStatement = Statement & { readonly number: string | null; readonly issued_on: string | null };

/** Clocks of gateways differ by less, and pending changes are entered by then: the month is complete. */
const SETTLED_MS = 3_600_000;

type Ask = { readonly month: string; readonly zone: string; readonly now: Date };

/**
 * The issued statement of a month in the installation's time zone; if there is none, the month is over and its credits
 * moved, it is issued now. For another zone, or a month that is not over, it is computed and has no number.
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

/** Never removed before there is a next one, whose number is one more. */
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
