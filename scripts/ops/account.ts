import { listCarriers } from '../../shared/carriers/carrier-store.ts';
import { EXEMPTIONS } from '../../shared/carriers/opt-outs/opt-out.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { defaultExpiry, ENTITY_ID, isCurrency } from '../../shared/money/accounts/account-form.ts';
import { homeOf, isCountry } from '../../shared/money/accounts/number-check.ts';
import {
  type AccountChanges,
  createAccount,
  findAccount,
  listAccounts,
  pauseAccount,
  setAccountStatus,
  updateAccount,
} from '../../shared/money/accounts/store.ts';
import { REQUESTS_PER_MINUTE } from '../../shared/people/keys/key.ts';
import { ensureIndexes } from '../../shared/platform/mongo/indexes.ts';
import { isoDate } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { type Missing, missingToSend } from '../../shared/templates/sms/missing-to-send.ts';
import { type Answer, type Command, type Context, defineCommand, Failure } from './command.ts';
import { accountId, choice, day, integer, list, name, optional, required, withDefault, words } from './parameters.ts';
import { sheet, table } from './show.ts';

const currency = {
  ...words('CODE', 'a currency code of ISO 4217 like INR or EUR', /^[A-Z]{3}$/),
  parse: (text: string) => (isCurrency(text) ? text : undefined),
};
const account = required(accountId, 'the account');
const senders = choice(['any', 'registered']);
const SENDERS_ABOUT = 'which senders may be used: those registered to the account, or any of valid form';
const NAME_ABOUT = 'what people call it';
const dlt = choice(['on', 'off']);
/** The text of the option: `none`, or exemptions separated by commas. */
const optOutExempt = {
  value: 'MESSAGES',
  form: `none, or one or more of ${EXEMPTIONS.join(', ')} (with commas)`,
  parse: (text: string) => (text === 'none' ? [] : list('MESSAGES', EXEMPTIONS).parse(text)),
};
const DLT_ABOUT = "India's DLT: senders must be registered, texts must match approved templates";
const entityId = words('PE-ID', '10 to 20 digits', ENTITY_ID);
const log = choice(['unusual', 'all']);
const LOG_ABOUT = 'which receipts and answers of carriers are kept for its timelines';
const ENTITY_ABOUT = 'PE id of the business, for templates that name none; with DLT nothing is sent without';
const numberCheck = choice(['off', 'on', 'mobile']);
const CHECK_ABOUT = "refuses recipients that are no numbers of their country's plan (on), or no mobile ones (mobile)";
const country = {
  ...words('COUNTRY', 'the two letters of a country like IN or DE (ISO 3166)', /^[A-Z]{2}$/),
  parse: (text: string) => (isCountry(text) ? text : undefined),
};
const COUNTRY_ABOUT = 'where recipients without a country code are from, for the number check; IN with DLT';
const KEY_RATE_ABOUT = `most requests a minute of a key that the account makes itself; ${REQUESTS_PER_MINUTE}, unless given`;

export const ACCOUNT_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'account',
    verb: 'create',
    about: 'Creates an account, without credits.',
    args: {},
    options: {
      name: required(name, NAME_ABOUT),
      currency: withDefault(currency, 'INR', 'ISO 4217 code of the price of its credits'),
      expiryDate: optional(day, 'last day (UTC) to spend credits on; a year from now'),
      senders: withDefault(senders, 'registered', SENDERS_ABOUT),
      dlt: withDefault(dlt, 'off', DLT_ABOUT),
      entityId: optional(entityId, ENTITY_ABOUT),
      numberCheck: optional(numberCheck, `${CHECK_ABOUT}; off`),
      country: optional(country, COUNTRY_ABOUT),
    },
    async run({ name, currency, expiryDate, senders, dlt, entityId, numberCheck, country }, { db, clock }) {
      const last = expiryDate ?? defaultExpiry(clock.now());
      refuseOver(last, clock);
      const store = await db();
      // The first command on a fresh MongoDB may come before the product has run on it.
      await ensureIndexes(store);
      const check = numberCheck === 'off' ? undefined : numberCheck;
      const sending = { senders, dlt, entityId, numberCheck: check, country };
      const made = await createAccount(store, clock, { name, currency, expiryDate: last, ...sending });
      const next = [`Created. Next: npm run ops -- credits top-up ${made._id} 1000`];
      if (dlt === 'on' && numberCheck === undefined) {
        next.push(
          `Numbers without 91 are sent and charged as they are. To refuse them: account update ${made._id} --number-check on`,
        );
      }
      return shown(store, made, next);
    },
  }),
  defineCommand({
    noun: 'account',
    verb: 'list',
    about: 'Shows all accounts, oldest first.',
    args: {},
    options: {},
    async run(_, { db }) {
      const store = await db();
      const all = await listAccounts(store);
      const missing = new Map<AccountDocument, readonly Missing[]>();
      for (const one of all) missing.set(one, await missingToSend(store, one));
      const rows = all.map((one) => [
        ...[one._id, statusOf(one), String(one.balance), one.expiryDate],
        missing.get(one)?.join(', ') || '-',
        one.name,
      ]);
      const heading = ['ACCOUNT', 'STATUS', 'CREDITS', 'UNTIL', 'MISSING TO SEND', 'NAME'];
      return {
        text: table(heading, rows, 'There are no accounts yet.'),
        json: all.map((one) => view(one, missing.get(one) ?? [])),
      };
    },
  }),
  defineCommand({
    noun: 'account',
    verb: 'show',
    about: 'Shows an account.',
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      return shown(store, await existing(store, account));
    },
  }),
  defineCommand({
    noun: 'account',
    verb: 'update',
    about: 'Changes settings of an account. Options that are left out stay unchanged.',
    args: { account },
    options: {
      name: optional(name, NAME_ABOUT),
      expiryDate: optional(day, 'last day (UTC) to spend credits on'),
      senders: optional(senders, SENDERS_ABOUT),
      dlt: optional(dlt, DLT_ABOUT),
      entityId: optional(entityId, ENTITY_ABOUT),
      numberCheck: optional(numberCheck, CHECK_ABOUT),
      country: optional(country, COUNTRY_ABOUT),
      lineBreaks: optional(
        choice(['any', 'exact']),
        'whether CR LF and LF differ in DLT texts (exact), as a few operators want it',
      ),
      log: optional(log, LOG_ABOUT),
      optOutExempt: optional(optOutExempt, 'what goes to customers who opted out, too'),
      keyPerMinute: optional(integer('N', 1, 1_000_000_000), KEY_RATE_ABOUT),
    },
    async run({ account, ...given }, { db, clock }) {
      const { expiryDate } = given;
      // What was left out is undefined; all else was read by its own option.
      const changes = Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      ) as AccountChanges;
      if (Object.keys(changes).length === 0) throw new Failure('Nothing to change: see `account update --help`.');
      if (expiryDate !== undefined) refuseOver(expiryDate, clock);
      const store = await db();
      await existing(store, account);
      await updateAccount(store, account, changes);
      return shown(store, await existing(store, account));
    },
  }),
  status('suspend', 'suspended', 'Refuses its sends (403) until it is resumed; what waits, waits.'),
  defineCommand({
    noun: 'account',
    verb: 'pause',
    about: 'Holds the waiting messages of an account until it is resumed. Its sends are still accepted, and wait too.',
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      const { status } = await existing(store, account);
      // Pausing it would change nothing, and `resume` would end the suspension together with the pause.
      if (status === 'suspended') throw new Failure(`${account} is suspended: its messages wait already.`);
      await pauseAccount(store, account);
      return { text: `${account} is paused.`, json: { account, status: 'paused' } };
    },
  }),
  status('resume', 'active', 'Lets a suspended or paused account send again, what waited first.'),
];

function refuseOver(expiryDate: string, clock: Context['clock']): void {
  if (expiryDate >= isoDate(clock.now())) return;
  throw new Failure(`--expiry-date ${expiryDate} is in the past. Give a later day.`);
}

/** The account. Throws a `Failure` that says how to find the right one. */
export async function existing(db: Awaited<ReturnType<Context['db']>>, id: AccountId): Promise<AccountDocument> {
  const found = await findAccount(db, id);
  if (found === undefined) throw new Failure(`There is no account ${id}: \`account list\` shows them.`);
  return found;
}

function status(verb: string, to: 'active' | 'suspended', about: string): Command {
  return defineCommand({
    noun: 'account',
    verb,
    about,
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      await setAccountStatus(store, account, to);
      return { text: `${account} is ${to}.`, json: { account, status: to } };
    },
  });
}

async function shown(
  db: Awaited<ReturnType<Context['db']>>,
  one: AccountDocument,
  after: readonly string[] = [],
): Promise<Answer> {
  const missing = await missingToSend(db, one);
  const withoutIds = one.dlt === 'on' ? await carriersWithoutDlt(db) : [];
  const home = homeOf(one);
  const fields = {
    account: one._id,
    name: one.name,
    status: statusOf(one),
    credits: one.balance,
    currency: one.currency,
    expiry: one.expiryDate,
    senders: one.dlt === 'on' ? 'registered (DLT)' : one.senders,
    dlt: one.dlt ?? 'off',
    'number check': one.numberCheck ?? 'off',
    ...(home === undefined ? {} : { country: home }),
    'line breaks': one.lineBreaks ?? 'any',
    log: one.log ?? 'unusual',
    ...(one.optOutExempt?.length ? { 'opt-out exempt': one.optOutExempt.join(', ') } : {}),
    ...(one.keyPerMinute === undefined ? {} : { 'key per minute': one.keyPerMinute }),
    ...(one.entityId === undefined ? {} : { entity: one.entityId }),
    created: one.createdAt.toISOString(),
  };
  const needs = missing.map((what) => `It cannot send without a ${what}: ${commandFor(what, one._id, missing)}`);
  const hints = withoutIds.map(
    (carrier) =>
      `${carrier} sends without the ids of DLT, which carriers in India refuse: \`carrier update ${carrier} --dlt TAGS\`.`,
  );
  return {
    text: [sheet(fields), ...after, ...needs, ...hints].join('\n'),
    json: { ...view(one, missing), carriers_without_dlt: withoutIds },
  };
}

async function carriersWithoutDlt(db: Awaited<ReturnType<Context['db']>>): Promise<string[]> {
  const carriers = await listCarriers(db);
  return carriers.flatMap(({ _id, dlt = 'off' }) => (dlt === 'off' ? [_id] : []));
}

/** The command that provides what is missing. */
function commandFor(what: Missing, account: AccountId, missing: readonly Missing[]): string {
  switch (what) {
    case 'PE id':
      return `account update ${account} --entity-id PE-ID`;
    case 'sender':
      return `sender create ${account} SENDER`;
    case 'template': {
      const needed = missing.includes('sender') ? '' : ', of an approved sender';
      return `template import ${account} FILE (or template create${needed})`;
    }
  }
}

function statusOf({ status, held }: AccountDocument): string {
  return status === 'active' && held === true ? 'paused' : status;
}

function view(one: AccountDocument, missing: readonly Missing[]): object {
  return {
    account: one._id,
    name: one.name,
    status: statusOf(one),
    balance: one.balance,
    currency: one.currency,
    expiry_date: one.expiryDate,
    senders: one.senders,
    dlt: one.dlt ?? 'off',
    entity_id: one.entityId ?? null,
    number_check: one.numberCheck ?? 'off',
    country: homeOf(one) ?? null,
    missing_to_send: missing,
    line_breaks: one.lineBreaks ?? 'any',
    log: one.log ?? 'unusual',
    opt_out_exempt: one.optOutExempt ?? [],
    key_per_minute: one.keyPerMinute ?? REQUESTS_PER_MINUTE,
    created_at: one.createdAt,
  };
}
