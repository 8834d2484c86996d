import type { Db } from 'mongodb';
import { z } from 'zod';
import { findAccount, setSecondFactor } from '../../../shared/money/accounts/store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';

/** What an account asks of its users. */

const SignInRules = named('SignInRules', {
  second_factor: z.enum(['none', 'owners', 'all']).meta({
    description: 'Who needs an authenticator app. none: only the demo account of `npm start`.',
    example: 'owners',
  }),
});

export const signInRules = endpoint({
  id: 'signInRules',
  method: 'get',
  path: '/v2/account/sign-in',
  tag: 'Users',
  summary: 'What sign-in asks for',
  description: 'Extension.',
  scopes: ['owner', 'admin:look'],
  answer: SignInRules,
  handle: ({ db }, { caller }) => rulesOf(db, caller.account._id),
});

/** It counts within seconds. */
export const changeSignInRules = endpoint({
  id: 'changeSignInRules',
  method: 'patch',
  path: '/v2/account/sign-in',
  tag: 'Users',
  summary: 'Change what sign-in asks for',
  description: 'Extension. Users without an authenticator app may then do nothing but set one up.',
  scopes: ['owner'],
  confirmed: true,
  body: request({
    second_factor: required(
      choice(['owners', 'all'], 'Who needs an authenticator app. Owners always do; `all`: the other users too.'),
    ),
  }),
  answer: SignInRules,
  examples: { body: { example: { second_factor: 'all' } }, answer: { example: { second_factor: 'all' } } },
  async handle(deps, { caller, body }) {
    const { db } = deps;
    const id = caller.account._id;
    const { second_factor } = body;
    await changeAudited(deps, caller, {
      action: 'account.sign-in',
      apart: second_factor,
      subject: { kind: 'account', id },
      read: () => rulesOf(db, id),
      make: async () => {
        await setSecondFactor(db, id, second_factor === 'all');
        return rulesOf(db, id);
      },
      madeOf: (made) => made,
      isRefusal: () => false,
    });
    return rulesOf(db, id);
  },
});

async function rulesOf(db: Db, id: AccountId): Promise<Shown<typeof SignInRules>> {
  const account = await findAccount(db, id);
  // `none` is for the demo account of `npm start`, until somebody changes the setting.
  return {
    second_factor:
      account?.secondFactor === 'required' ? 'all' : account?.secondFactor === 'exempt' ? 'none' : 'owners',
  };
}
