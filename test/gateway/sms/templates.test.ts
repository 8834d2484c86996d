import { expect } from 'chai';
import request from 'supertest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createTemplate, decideTemplate } from '../../../shared/templates/store.ts';
import { makeTemplate } from '../../shared/templates/make.ts';
import { makeKey, openGateway, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { expectProblem } from '../../support/problem.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('GET /v2/templates', () => {
  let store: TestStore;
  let gateway: TestGateway;
  before(async () => {
    store = await openTestStore();
    gateway = await openGateway(store.db);
  });
  after(async () => {
    await gateway.close();
    await store.close();
  });

  const read = (key: string): request.Test =>
    request(gateway.url).get('/v2/templates').set('Authorization', `Bearer ${key}`);

  it('answers id, name and content of the account’s approved templates, by id, and nothing else', async () => {
    const account = await makeAccount(store.db, 0);
    const other = await makeAccount(store.db, 0);
    const content = 'Hi {#var#}\nyour order {#numeric#} — नमस्ते';
    const second = makeTemplate({ dltId: '1107160000000000002', name: 'Order', content, senders: ['A', 'B'] });
    for (const template of [second, makeTemplate()]) await createTemplate(store.db, systemClock, account, template);
    const submitted = makeTemplate({ dltId: '1107160000000000003', status: 'submitted' });
    await createTemplate(store.db, systemClock, account, submitted);
    await createTemplate(store.db, systemClock, other, makeTemplate({ dltId: '1107160000000000004' }));

    const answer = await read(await makeKey(store.db, account, ['read']));

    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({
      templates: [
        { id: '1107160000000000001', name: 'Greeting', content: 'Hi {#var#}' },
        { id: '1107160000000000002', name: 'Order', content },
      ],
    });
  });

  it('shows an approval and a rejection at once', async () => {
    const account = await makeAccount(store.db, 0);
    const key = await makeKey(store.db, account);
    await createTemplate(store.db, systemClock, account, makeTemplate({ status: 'submitted' }));
    const ids = async (): Promise<string[]> => (await read(key)).body.templates.map((one: { id: string }) => one.id);

    expect(await ids()).to.deep.equal([]);
    await decideTemplate(store.db, systemClock, account, '1107160000000000001', 'approved');
    expect(await ids()).to.deep.equal(['1107160000000000001']);
    await decideTemplate(store.db, systemClock, account, '1107160000000000001', 'rejected');
    expect(await ids()).to.deep.equal([]);
  });

  it('403: a key that may only send', async () => {
    const account = await makeAccount(store.db, 0);

    expectProblem(await read(await makeKey(store.db, account, ['send'])), 'scope_missing');
  });
});
