import type { Db } from 'mongodb';
import { z } from 'zod';
import { type AccountDocument, TEXTS } from '../../../shared/money/accounts/account.ts';
import { findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { isGstin, stateOf } from '../../../shared/money/statements/credit-price.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, Fault, list, object, optional, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { line } from '../operators/fields.ts';

/** Settings that the owners of an account change. Operators may too (accounts.ts): the last change counts. */

export const BillingShape = named(
  'Billing',
  'Who is named as the buyer on statements. Those that were issued before stay as they are.',
  {
    name: text(undefined, { example: 'Asha Stores Pvt Ltd' }).nullable(),
    address: z.array(text()).meta({ description: 'Line by line.', example: ['12 MG Road', 'Bengaluru 560001'] }),
    gstin: text(undefined, { example: '29AABCT1332L1ZA' }).nullable(),
    state: text(undefined, { example: '29' }).nullable(),
  },
);

const AccountSettings = named('AccountSettings', {
  message_texts: z.enum(TEXTS).meta({ description: 'Who is shown the texts of messages.', example: 'shown' }),
  billing: BillingShape,
});

const NO_GSTIN = new Fault(
  'invalid_value',
  'It is no GSTIN: 15 characters, of which the first two are a state and the last is a check digit. Compare it with the certificate.',
);
const NO_STATE = new Fault('invalid_value', 'It must be the two digits of a state under GST, like 29.');
const LINE_MAX = 120;
const ADDRESS_LINES_MAX = 6;

export const billing = object({
  name: optional(line('The legal name. Left out: the name of the account.', LINE_MAX)),
  address: optional(list(line('A line.', LINE_MAX), { description: 'Line by line.', maxItems: ADDRESS_LINES_MAX })),
  gstin: optional(
    string({ description: "Of a business registered for India's GST.", minLength: 15, maxLength: 15 }, (text) =>
      isGstin(text) ? text : NO_GSTIN,
    ),
  ),
  state: optional(
    string({ description: 'Without a GSTIN: the code of the state.', pattern: '^[0-9]{2}$' }, (text) =>
      stateOf(text)?.code === text ? text : NO_STATE,
    ),
  ),
});

export function billingRecord({ billing = {} }: Pick<AccountDocument, 'billing'>): Shown<typeof BillingShape> {
  const { name = null, address = [], gstin = null, state = null } = billing;
  return { name, address, gstin, state };
}

export const messageTexts = choice(
  TEXTS,
  'Who is shown the texts of its messages. `shown`: its keys with `read` and its users; viewers, and operators who look at it, without codes. `own`: not operators. `hidden`: nobody, of what it sent; it still reads what customers wrote.',
);

export const ownSettings = endpoint({
  id: 'accountSettings',
  method: 'get',
  path: '/v2/account/settings',
  tag: 'Account',
  summary: 'Settings of the account',
  description: 'Extension. What its owners set themselves.',
  scopes: ['owner', 'admin:look'],
  answer: AccountSettings,
  handle: ({ db }, { caller }) => settingsOf(db, caller.account._id),
});

export const changeOwnSettings = endpoint({
  id: 'changeAccountSettings',
  method: 'patch',
  path: '/v2/account/settings',
  tag: 'Account',
  summary: 'Change settings of the account',
  description:
    'Extension. Fields that are left out stay as they are; `billing` is set whole. It counts within seconds; statements that were issued before stay as they are.',
  scopes: ['owner'],
  confirmed: true,
  body: request({ message_texts: optional(messageTexts), billing: optional(billing) }),
  answer: AccountSettings,
  examples: {
    body: {
      texts: { message_texts: 'own' },
      billing: {
        billing: { name: 'Asha Stores Pvt Ltd', address: ['12 MG Road', 'Bengaluru'], gstin: '29AABCT1332L1ZA' },
      },
    },
  },
  async handle(deps, { caller, body: { message_texts: texts, billing } }) {
    const { db } = deps;
    const id = caller.account._id;
    const changes = defined({ texts, billing });
    return changeAudited(deps, caller, {
      action: 'account.settings',
      subject: { kind: 'account', id },
      read: () => settingsOf(db, id),
      make: async () => {
        if (Object.keys(changes).length > 0) await updateAccount(db, id, changes);
        return settingsOf(db, id);
      },
      madeOf: (made) => made,
    });
  },
});

async function settingsOf(db: Db, id: AccountId): Promise<Shown<typeof AccountSettings>> {
  const account = await findAccount(db, id);
  return { message_texts: account?.texts ?? 'shown', billing: billingRecord(account ?? {}) };
}
