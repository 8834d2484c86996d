import request from 'supertest';
import { makeKey, useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { useStore } from '../../../support/store.ts';

describe('GET /v2/balance', () => {
  const store = useStore();
  const gateway = useGateway(store);

  it('answers exactly the three fields of the specification', async () => {
    const account = await makeAccount(store.db, 42, { currency: 'EUR', expiryDate: '2027-06-30' });

    const answer = await request(gateway.url)
      .get('/v2/balance')
      .set('Authorization', `Bearer ${await makeKey(store.db, account)}`);

    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ balance: 42, currency: 'EUR', expiry_date: '2027-06-30' });
  });

  it('still answers a suspended account', async () => {
    const account = await makeAccount(store.db, 7, { status: 'suspended' });

    const answer = await request(gateway.url)
      .get('/v2/balance')
      .set('Authorization', `Bearer ${await makeKey(store.db, account)}`);

    expect(answer.body.balance).to.equal(7);
  });
});
