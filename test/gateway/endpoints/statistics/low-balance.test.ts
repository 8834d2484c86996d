import { expect } from 'chai';
import request from 'supertest';
import { findAccount } from '../../../../shared/money/accounts/store.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';

const PATH = '/v2/account/low-balance';

describe('the threshold of a low balance', () => {
  const site = accountAtGateway(10);

  it('is set and removed by who changes settings, read by others, and in the audit', async () => {
    const { headers } = await signedIn(site.db, 'developer', site.account);
    const put = (threshold: unknown) => request(site.url).put(PATH).set(headers).send({ threshold });

    expect((await request(site.url).get(PATH).set(headers).expect(200)).body).to.deep.equal({ threshold: null });
    expect((await put(500).expect(200)).body).to.deep.equal({ threshold: 500 });
    expect(await findAccount(site.db, site.account)).to.include({ lowBalance: 500 });
    const entry = await site.db.collection('audit').findOne({ action: 'account.low-balance' });
    expect(entry).to.deep.include({ before: { threshold: null }, after: { threshold: 500 } });
    expectProblem(await put(-1), 'invalid_request');
    expectProblem(await put(1.5), 'invalid_request');
    expect((await put(0).expect(200)).body).to.deep.equal({ threshold: null });
    expect(await findAccount(site.db, site.account)).not.to.have.property('lowBalance');
    const reader = await makeKey(site.db, site.account, ['read']);
    const auth = { Authorization: `Bearer ${reader}` };
    await request(site.url).get(PATH).set(auth).expect(200);
    expectProblem(await request(site.url).put(PATH).set(auth).send({ threshold: 1 }), 'scope_missing');
  });
});
