import type { Db } from 'mongodb';
import { z } from 'zod';
import type { Daytime } from '../../../shared/messages/document/routing.ts';
import { type AccountDocument, ENTITY_ID, isCurrency, isLine } from '../../../shared/money/accounts/account.ts';
import { isCountry } from '../../../shared/money/accounts/number-check.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isDay, isoDate } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, isAccountId } from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import {
  Fault,
  type Field,
  type Kind,
  list,
  matching,
  object,
  optional,
  required,
  string,
} from '../../http/fields/field.ts';
import { ONE_LINE } from '../../http/fields/message-fields.ts';
import type { ReadRequest } from '../../http/fields/request.ts';
import { PROBLEMS } from '../../http/problem.ts';

export const AccountIdText = text(undefined, { example: 'acc_01m7znjn7hdb5pft3awkb6pgvz' });
export const ACCOUNT_IN_PATH = { account_id: AccountIdText.describe('The account.') };

export function line(description: string, most: number): Kind<string> {
  const fault = new Fault('invalid_text', `It must be one line of 1 to ${most} characters.`);
  return string({ description, minLength: 1, maxLength: most, pattern: ONE_LINE }, (text) =>
    isLine(text, most) ? text.trim() : fault,
  );
}

const COUNTRY = string({ description: 'Two letters (ISO 3166-1).', pattern: '^[A-Z]{2}$' }, (text) =>
  isCountry(text) ? text : new Fault('invalid_value', 'It must be a country in two letters, like IN.'),
);
const COUNTRIES_MAX = 250;

export function countryList(description: string): Kind<readonly string[]> {
  return list(COUNTRY, { description, minItems: 1, maxItems: COUNTRIES_MAX });
}

const timeOfDay = (description: string) =>
  matching(description, /^([01]\d|2[0-3]):[0-5]\d$/, 'a time of day like 09:00');

/** When SMS may leave, by the recipient's clock (carriers/routing/daytime.ts). */
export function daytimeField(whose: string): Kind<Daytime> {
  const members = object(
    {
      from: required(timeOfDay('When it begins, like 09:00.')),
      to: required(timeOfDay('When it ends, like 21:00. Before `from`: it spans midnight. The same: at any time.')),
      countries: optional(countryList('Of recipients in these countries. Left out: in all.')),
    },
    `When ${whose} may leave, by the clock of the recipient's country; in all of its time zones, if it has several. Others wait until then, and are refused if they would expire before. Messages of the priority \`otp\`, answers to STOP, START and HELP, and numbers of no country are not held. Left out: at any time.`,
  );
  return members.transform(({ from, to, countries: some }) => ({
    ...{ from, to },
    ...(some !== undefined && { countries: [...new Set(some)].sort() }),
  }));
}

export const DaytimeShape = named('Daytime', "Hours of the recipient's day in which SMS may leave.", {
  from: text('By the clock of the recipient.', { example: '09:00' }),
  to: text('Exclusive.', { example: '21:00' }),
  countries: z
    .array(text())
    .meta({ description: 'Absent: of all.', example: ['AE', 'IN'] })
    .optional(),
});

export function daytimeRecord(daytime: Daytime | undefined): Shown<typeof DaytimeShape> | null {
  return daytime === undefined ? null : { ...daytime, ...(daytime.countries && { countries: [...daytime.countries] }) };
}

const ACCOUNT_ID = '^acc_[0-9a-hjkmnp-tv-z]{26}$';

export function accountId(description: string, example?: string): Kind<AccountId> {
  const fault = new Fault('invalid_value', 'It must be an account id like acc_01kam….');
  return string({ description, pattern: ACCOUNT_ID, ...(example !== undefined && { example }) }, (text) =>
    isAccountId(text) ? text : fault,
  );
}

export const NO_SUCH_ACCOUNT = 'There is no such account: `GET /v2/admin/accounts` lists them.';

async function checkAccount(
  db: Db,
  { given, problems }: ReadRequest<{ readonly account_id: Field<AccountId | undefined> }>,
): Promise<AccountDocument | undefined> {
  if (given.account_id === undefined) return undefined;
  const account = await findAccount(db, given.account_id);
  if (account === undefined) problems.add('account_id', 'invalid_value', NO_SUCH_ACCOUNT);
  return account;
}

/** Also refuses a closed account, which can get nothing. */
export async function checkOpenAccount(db: Db, read: Parameters<typeof checkAccount>[1]): Promise<void> {
  const account = await checkAccount(db, read);
  if (account?.status === 'closed') read.problems.add('account_id', 'invalid_value', PROBLEMS.account_closed.advice);
}

export const currency = string(
  { description: 'The ISO 4217 code of the price of its credits.', pattern: '^[A-Z]{3}$' },
  (text) =>
    isCurrency(text) ? text : new Fault('invalid_value', 'It must be a currency code of ISO 4217, like INR or EUR.'),
);

export const country = string(
  {
    description:
      'Two letters (ISO 3166-1). A number without a country code is taken to be from here, if a handset or a search gives it; recipients need theirs.',
    pattern: '^[A-Z]{2}$',
  },
  (text) => (isCountry(text) ? text : new Fault('invalid_value', 'It must be a country in two letters, like IN.')),
);

export const expiryDate = string(
  { description: 'The last day (UTC) on which its credits may be spent.', format: 'date' },
  (text, { now }) => {
    if (!isDay(text)) return new Fault('invalid_value', 'It must be a day like 2027-12-31.');
    return text >= isoDate(now) ? text : new Fault('out_of_range', 'It is in the past. Give a later day.');
  },
);

export const entityId = matching(
  "The PE id of the business on the operators' DLT platform.",
  ENTITY_ID,
  '10 to 20 digits',
);

export const reason = line('Why. It stands in the audit.', 200);
