import { expect } from 'chai';
import request from 'supertest';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { makeProvider } from '../../../support/chatapp.ts';
import { makeKey, useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { useStore } from '../../../support/store.ts';

const PATH = '/v2/account/chatapp/templates';
const URL_OK = 'https://shop.harkara.in/a.png';

describe('requests for chat-app templates with a file in their header', () => {
  const store = useStore();
  const gateway = useGateway(store);
  let account: AccountId;
  let key: string;
  beforeEach(async () => {
    account = await makeAccount(store.db, 0);
    key = await makeKey(store.db, account, ['manage', 'read']);
    await makeProvider(store.db, account, { appId: '2871' });
  });

  const ask = (header: object) =>
    request(gateway.url)
      .post(PATH)
      .set('Authorization', `Bearer ${key}`)
      .send({ name: 'picture', language: 'en', category: 'utility', header, body: 'Your order has left.' });
  const edit = (header: object) =>
    request(gateway.url)
      .patch(`${PATH}/picture/en`)
      .set('Authorization', `Bearer ${key}`)
      .send({ category: 'utility', header, body: 'Your order has left.' });

  it('are stored with the address of the sample, and edited', async () => {
    const { body } = await ask({ format: 'image', example_url: URL_OK }).expect(200);

    expect(body).to.deep.include({ state: 'requested', header: { format: 'image', text: null } });
    expect(body.examples).to.deep.equal({ body: [], buttons: [], header_url: URL_OK });
    const other = 'https://shop.harkara.in/b.pdf';
    const edited = await edit({ format: 'document', example_url: other }).expect(200);
    expect(edited.body.examples.header_url).to.equal(other);
  });

  for (const [what, header, field, code] of [
    ['no address', { format: 'video' }, 'header.example_url', 'missing_field'],
    ['another type', { format: 'video', example_url: URL_OK }, 'header.example_url', 'unsupported_media_type'],
    ['a text', { format: 'image', example_url: URL_OK, text: 'Hi' }, 'header.text', 'conflict'],
    ['an example of a variable', { format: 'image', example_url: URL_OK, example: 'x' }, 'header.example', 'conflict'],
    ['a file of a text', { format: 'text', text: 'Hi', example_url: URL_OK }, 'header.example_url', 'conflict'],
    ['a file of a place', { format: 'location', example_url: URL_OK }, 'header.example_url', 'conflict'],
  ] as const) {
    it(`are refused: ${what}`, async () => {
      const answer = await ask(header);

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors.map((one: { field: string; code: string }) => [one.field, one.code])).to.deep.equal([
        [field, code],
      ]);
    });
  }

  for (const url of ['http://shop.harkara.in/a.png', 'https://127.0.0.1/a.png', 'https://169.254.169.254/a.png']) {
    it(`are refused: ${url}`, async () => {
      expectProblem(await ask({ format: 'image', example_url: url }), 'url_not_allowed');
      await ask({ format: 'image', example_url: URL_OK }).expect(200);
      expectProblem(await edit({ format: 'image', example_url: url }), 'url_not_allowed');
    });
  }

  it('are refused without an app at the provider, with what the operator has to set', async () => {
    const { db } = store;
    await db.collection('providers').updateOne({ account }, { $unset: { appId: '' } });

    const answer = await ask({ format: 'image', example_url: URL_OK });

    expectProblem(answer, 'invalid_request');
    expect(answer.body.errors[0]).to.include({ field: 'header.format' });
    expect(answer.body.errors[0].detail).to.contain('`provider set --app-id`');
  });
});
