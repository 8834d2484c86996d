import type { Db } from 'mongodb';
import { findAccount, setLowBalance } from '../../../shared/money/accounts/store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { number, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';

/** At which balance the account is told that it is low. */

const LowBalance = named('LowBalance', {
  threshold: whole(
    'Credits. `balance.low` is told when the balance is not above it. Null: when it lasts for less than two days at the rate of the last week.',
    { example: 500 },
  ).nullable(),
});

export const lowBalance = endpoint({
  id: 'lowBalance',
  call: 'account.lowBalance',
  method: 'get',
  path: '/v2/account/low-balance',
  tag: 'Account',
  summary: 'When the balance counts as low',
  description: 'Extension.',
  scopes: ['read', 'manage'],
  answer: LowBalance,
  handle: ({ db }, { caller }) => thresholdOf(db, caller.account._id),
});

const THRESHOLD_MAX = 1_000_000_000;

export const changeLowBalance = endpoint({
  id: 'changeLowBalance',
  call: 'account.changeLowBalance',
  method: 'put',
  path: '/v2/account/low-balance',
  tag: 'Account',
  summary: 'Change when the balance counts as low',
  description: 'Extension. The balance is looked at once a minute, and told as low when that has held for a minute.',
  scopes: ['manage'],
  body: request({
    threshold: required(
      number({
        description: 'Credits; 0: without a threshold.',
        minimum: 0,
        maximum: THRESHOLD_MAX,
        type: 'integer',
      }),
    ),
  }),
  answer: LowBalance,
  examples: { body: { example: { threshold: 500 } } },
  async handle(deps, { caller, body }) {
    const { db } = deps;
    const id = caller.account._id;
    await changeAudited(deps, caller, {
      action: 'account.low-balance',
      subject: { kind: 'account', id },
      read: () => thresholdOf(db, id),
      make: () => setLowBalance(db, id, body.threshold === 0 ? undefined : body.threshold),
      madeOf: () => ({ threshold: body.threshold === 0 ? null : body.threshold }),
      isRefusal: () => false,
    });
    return thresholdOf(db, id);
  },
});

async function thresholdOf(db: Db, id: AccountId): Promise<Shown<typeof LowBalance>> {
  return { threshold: (await findAccount(db, id))?.lowBalance ?? null };
}
