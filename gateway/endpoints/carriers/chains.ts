import { z } from 'zod';
import { BadChain, listChains, removeChain, setChain } from '../../../shared/carriers/chain.ts';
import { done, endpoint, invalid, refused } from '../../api/endpoint.ts';
import { named, success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { list, matching, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { ACCOUNT_REFUSALS, accountOf, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH, AccountIdText } from '../operators/fields.ts';
import { CarrierId, carrierOf, IN_PATH } from './carriers.ts';

/** For the chain hash of India's DLT: telemarketers between an account and a carrier, if not the carrier's own. */

const Chain = named('OperatorChain', 'The registered chain of telemarketers of an account at a carrier.', {
  carrier_id: CarrierId,
  telemarketers: z.array(text()).meta({ example: ['1101172974420820002', '1101172974420830004'] }),
});

const PATH = { ...ACCOUNT_IN_PATH, ...IN_PATH };

export const chains = endpoint({
  id: 'operatorChains',
  method: 'get',
  path: '/v2/admin/accounts/{account_id}/chains',
  tag: 'Operators',
  summary: "An account's own telemarketers",
  description: "Extension. By carrier. Elsewhere the carrier's own chain counts (its setting `dltChain`).",
  scopes: ['admin:read'],
  params: ACCOUNT_IN_PATH,
  answer: named('OperatorChains', { chains: z.array(Chain) }),
  problems: ['account_not_found'],
  async handle({ db }, { params }) {
    const account = await accountOf(db, params.account_id);
    if (account === undefined) return refused('account_not_found');
    const found = await listChains(db, account._id);
    return { chains: found.map(({ carrier, telemarketers }) => ({ carrier_id: carrier, telemarketers })) };
  },
});

export const putChain = endpoint({
  id: 'putChain',
  method: 'put',
  path: '/v2/admin/accounts/{account_id}/chains/{carrier_id}',
  tag: 'Operators',
  summary: 'Give an account telemarketers of its own at a carrier',
  description:
    "Extension. For DLT's chain hash: SHA-256 of the message's entity id and these ids, with commas. It is sent where the carrier has a tag for it (its setting `dlt`).",
  scopes: ['admin:routing'],
  confirmed: true,
  params: PATH,
  body: request({
    telemarketers: required(
      list(matching('An id.', /^[0-9]{10,20}$/, '10 to 20 digits'), {
        description: 'From the first after the entity to the delivering one.',
        minItems: 1,
        maxItems: 10,
      }),
    ),
  }),
  answer: success('OperatorChainResult', { account_id: AccountIdText, chain: Chain }),
  problems: [...ACCOUNT_REFUSALS, 'carrier_not_found'],
  examples: { body: { example: { telemarketers: ['1101172974420820002', '1101172974420830004'] } } },
  async handle(deps, { requester, params, body: { telemarketers }, read: { problems } }) {
    const { db, clock } = deps;
    const account = await openAccountOf(db, params.account_id);
    if ('kind' in account) return account;
    const found = await carrierOf(db, params.carrier_id, clock.now());
    if (found === undefined) return refused('carrier_not_found');
    const carrier = found.carrier._id;
    try {
      await changeAudited(deps, requester, {
        action: 'chain.set',
        subject: { kind: 'chain', id: `${account._id}:${carrier}` },
        account: account._id,
        read: async () => (await listChains(db, account._id)).find((one) => one.carrier === carrier),
        make: () => setChain(db, account._id, carrier, telemarketers),
        madeOf: () => ({ account: account._id, carrier, telemarketers }),
        isRefusal: (error) => error instanceof BadChain,
      });
    } catch (error) {
      if (!(error instanceof BadChain)) throw error;
      problems.add('telemarketers', 'invalid_value', error.message);
      return invalid(problems);
    }
    return done({ account_id: account._id, chain: { carrier_id: carrier, telemarketers } });
  },
});

export const takeChain = endpoint({
  id: 'removeChain',
  method: 'delete',
  path: '/v2/admin/accounts/{account_id}/chains/{carrier_id}',
  tag: 'Operators',
  summary: "Remove an account's own telemarketers at a carrier",
  description: "Extension. The carrier's own count then, if it has any.",
  scopes: ['admin:routing'],
  confirmed: true,
  params: PATH,
  answer: success('RemovedChain', { account_id: AccountIdText, carrier_id: CarrierId }),
  problems: [...ACCOUNT_REFUSALS, 'chain_not_found'],
  async handle(deps, { requester, params: { account_id, carrier_id: carrier } }) {
    const { db } = deps;
    const account = await openAccountOf(db, account_id);
    if ('kind' in account) return account;
    const found = (await listChains(db, account._id)).find((one) => one.carrier === carrier);
    if (found === undefined) return refused('chain_not_found');
    await changeAudited(deps, requester, {
      action: 'chain.remove',
      subject: { kind: 'chain', id: `${account._id}:${carrier}` },
      account: account._id,
      read: async () => found,
      make: () => removeChain(db, account._id, carrier),
      madeOf: (removed) => ({ removed }),
    });
    return done({ account_id: account._id, carrier_id: carrier });
  },
});
