import type { Db } from 'mongodb';
import { z } from 'zod';
import { TEXTS } from '../../../shared/money/accounts/account.ts';
import { findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, optional } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';

/** What the owners of an account set for it themselves. Operators may set the same (accounts.ts): the last one counts. */

const AccountSettings = named('AccountSettings', {
  message_texts: z.enum(TEXTS).meta({ description: 'Who is shown the texts of messages.', example: 'shown' }),
});

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
  description: 'Extension. Fields that are left out stay as they are. It counts within seconds.',
  scopes: ['owner'],
  confirmed: true,
  body: request({ message_texts: optional(messageTexts) }),
  answer: AccountSettings,
  examples: { body: { example: { message_texts: 'own' } }, answer: { example: { message_texts: 'own' } } },
  async handle(deps, { caller, body: { message_texts: texts } }) {
    const { db } = deps;
    const id = caller.account._id;
    const changes = defined({ texts });
    return changeAudited(deps, caller, {
      action: 'account.settings',
      subject: { kind: 'account', id },
      read: () => settingsOf(db, id),
      make: async () => {
        if (Object.keys(changes).length > 0) await updateAccount(db, id, changes);
        return settingsOf(db, id);
      },
      madeOf: (made) => made,
      isRefusal: () => false,
    });
  },
});

async function settingsOf(db: Db, id: AccountId): Promise<Shown<typeof AccountSettings>> {
  return { message_texts: (await findAccount(db, id))?.texts ?? 'shown' };
}
