import request from 'supertest';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { type ChatTemplateRequestDocument, chatTemplateId } from '../../../../shared/templates/chat/chat-template.ts';
import {
  finishRequest,
  replaceChatTemplates,
  replaceListed,
  wishChatTemplate,
} from '../../../../shared/templates/chat/store.ts';
import { announceTemplates } from '../../../../workers/maintenance/announce.ts';
import { makeChatTemplate, makeProvider, ownerOf } from '../../../support/chatapp.ts';
import { makeKey, useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { useStore } from '../../../support/store.ts';
import { tellDeps } from '../../../support/tell-deps.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/chatapp/templates';
const DRAFT = { language: 'en_US', category: 'utility', body: 'Your order has left.' } as const;

describe('chat-app templates of an account', () => {
  const { site, ask } = settingsWorld();
  beforeEach(() => makeProvider(site.db, site.account));

  /** As if the provider had acted and now lists the template with that status, or no longer lists it. */
  async function requested(name: string, wants: 'create' | 'edit', status: string | undefined): Promise<void> {
    const { account } = site;
    const wish: ChatTemplateRequestDocument = {
      ...{
        _id: chatTemplateId(ownerOf(account), name, 'en_US'),
        ...ownerOf(account),
        name,
        language: 'en_US',
        wants,
        tries: 0,
      },
      draft: { category: 'utility', components: { body: 'x', buttons: [] }, examples: { body: [], buttons: [] } },
      ...{ request: newId('req'), requestedAt: new Date() },
    };
    await wishChatTemplate(site.db, wish);
    await finishRequest(site.db, wish);
    if (status === undefined) return;
    await replaceListed(site.db, [makeChatTemplate(account, { name, status })], new Date());
  }

  async function walk(query: string): Promise<readonly string[]> {
    const names: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 20; pages++) {
      const { body } = await ask('get', `${PATH}?${query}${cursor}`).expect(200);
      names.push(...body.data.map(({ name }: { name: string }) => name));
      expect(body.has_more).to.equal(body.next_cursor !== null);
      if (!body.has_more) return names;
      cursor = `&cursor=${body.next_cursor}`;
    }
    throw new Error('the list does not end');
  }

  it('are listed of one business account, by a number of it', async () => {
    await makeProvider(site.db, site.account, { number: '918100000002', phoneNumberId: '1099', businessId: '2099' });
    const other = makeChatTemplate(site.account, { business: '2099', name: 'of_the_second' });
    await replaceListed(site.db, [makeChatTemplate(site.account), other], new Date());

    expect(await walk('from=918100000002')).to.deep.equal(['of_the_second']);
    const { provider } = await makeProvider(site.db, site.account);
    expect(await walk(`from=${provider._id}`)).to.deep.equal(['order_update']);
    expect((await ask('get', `${PATH}?from=918100000003`)).status).to.equal(400);
  });

  it('are listed by state to the end, also behind pages of requests of which none has that state', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `n${String(i).padStart(2, '0')}`);
    for (const [i, name] of names.entries()) await requested(name, 'create', i < 8 ? 'rejected' : 'approved');
    await requested('n03_waits', 'edit', undefined);

    expect(await walk('state=approved&limit=3')).to.deep.equal(names.slice(8));
    expect(await walk('state=rejected&limit=3')).to.deep.equal(names.slice(0, 8));
    expect(await walk('state=deleted&limit=3')).to.deep.equal(['n03_waits']);
    expect(await walk('limit=3')).to.deep.equal([...names, 'n03_waits'].sort());
  });

  for (const wants of ['create', 'edit'] as const) {
    it(`that the provider has deleted are shown so, and may be asked for again or removed (last ${wants})`, async () => {
      for (const name of ['once', 'twice']) await requested(name, wants, 'approved');
      await announceTemplates(tellDeps(site.db));
      await replaceChatTemplates(site.db, ownerOf(site.account), [], new Date(Date.now() + 1_000));

      const { body } = await ask('get', `${PATH}?state=deleted`).expect(200);
      expect(body.data.map(({ name }: { name: string }) => name)).to.deep.equal(['once', 'twice']);
      const again = await ask('post', PATH, { name: 'once', ...DRAFT }).expect(200);
      expect(again.body).to.include({ state: 'requested', change: 'create' });
      const removed = await ask('delete', `${PATH}/twice/en_US`).expect(200);
      expect(removed.body).to.include({ removed: true });
      expect(await walk('')).to.deep.equal(['once']);
      expectProblem(await ask('post', PATH, { name: 'once', ...DRAFT }), 'template_exists');
    });
  }
});

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
