import { newId } from '../../../shared/platform/runtime/ids.ts';
import { type ChatTemplateRequestDocument, chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import { ownerOf } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { expectProblem } from '../../support/problem.ts';
import { ended, WorkerProcesses } from '../../support/worker-processes.ts';
import { DRAFT, TEMPLATES_PATH, TemplateWorld } from './template-world.ts';
import { chatWorld } from './world.ts';

/** The key of `TEST_BOX`. */
const KEY = Buffer.alloc(32, 7).toString('hex');

describe('chatapp worker: templates are asked for at the provider', () => {
  const world = chatWorld();
  const workers = new WorkerProcesses('chatapp');
  let site: TemplateWorld;
  beforeEach(async () => {
    site = await TemplateWorld.open(world);
  });
  afterEach(async () => {
    await workers.killAll();
    await site.close();
  });

  it('requested, pending, approved by the callback, announced once, and sent', async () => {
    const { body } = await site.ask('order_left').expect(200);
    expect(body).to.include({ status: 'success', state: 'requested', change: 'create', name: 'order_left' });
    expectProblem(await site.ask('order_left'), 'template_exists');
    await world.startWorker();

    const shown = await site.until('order_left', 'approved');

    expect(shown).to.include({ change: null, reason: null, category: 'utility', cannot_be_sent: null });
    expect(shown.params).to.have.length(5);
    expect(await site.announced('order_left')).to.deep.equal(['template.approved approved']);
    expect(await site.announced('order_left')).to.have.length(1);
    expect(site.provider.templateRequests()).to.deep.equal([{ method: 'POST', name: 'order_left', status: 200 }]);
    const params = ['1234', 'Asha', '#1234', 'abc', '25OFF'];
    const sent = { to: '919876543210', template: 'order_left', language: 'en_US', params };
    await site.call('post', '/v2/chatapp/send', sent).expect(200);
    expectProblem(await site.ask('order_left'), 'template_exists');
  });

  it('an authentication template of each kind is asked for, approved, and sends its code twice', async () => {
    await world.startWorker();
    const apps = [{ package_name: 'com.example.luckyshrub', signature_hash: 'K8a/AINcGX7' }];
    const codes = {
      code_to_copy: { type: 'copy_code', expires_minutes: 5, ttl_seconds: 60 },
      code_one_tap: { type: 'one_tap', apps, autofill_text: 'Autofill', security_advice: false },
      code_zero_tap: { type: 'zero_tap', apps, terms_accepted: true, button_text: 'Copy Code' },
    };
    const wanted = { language: 'en_US', category: 'authentication' };
    for (const [name, code] of Object.entries(codes)) {
      await site.call('post', TEMPLATES_PATH, { name, ...wanted, code }).expect(200);
    }

    for (const name of Object.keys(codes)) {
      expect(await site.until(name, 'approved')).to.include({ category: 'authentication', cannot_be_sent: null });
      const sent = { to: '919876543210', template: name, language: 'en_US', params: ['482913'] };
      await site.call('post', '/v2/chatapp/send', sent).expect(200);
    }
    expect(site.provider.templateRequests().map(({ method, status }) => [method, status])).to.deep.equal([
      ...[
        ['POST', 200],
        ['POST', 200],
        ['POST', 200],
      ],
    ]);
    const refused = async (code: object | undefined, more = {}) => {
      const { body } = await site.call('post', TEMPLATES_PATH, {
        name: 'x',
        ...wanted,
        ...(code && { code }),
        ...more,
      });
      return body.errors.map(({ field, code: word }: { field: string; code: string }) => `${field} ${word}`);
    };
    expect(await refused(undefined)).to.deep.equal(['code missing_field']);
    expect(await refused({ type: 'one_tap' })).to.deep.equal(['code.apps missing_field']);
    expect(await refused({ type: 'zero_tap', apps })).to.deep.equal(['code.terms_accepted missing_field']);
    expect(await refused({ type: 'copy_code', apps })).to.deep.equal(['code.apps conflict']);
    expect(await refused({ type: 'copy_code', expires_minutes: 91 })).to.deep.equal([
      'code.expires_minutes out_of_range',
    ]);
    expect(await refused({ type: 'copy_code' }, { body: 'My code is {{1}}.' })).to.deep.equal(['body conflict']);
    expect(await refused({ type: 'copy_code' }, { category: 'utility', body: 'Hi.' })).to.deep.equal(['code conflict']);
  });

  it('rejected: the reason is shown and announced; edited, it is reviewed again', async () => {
    await world.startWorker();
    await site.ask('refused_offer').expect(200);
    await site.until('refused_offer', 'rejected');
    // The list may have given the state before the callback, which has a longer reason.
    const words = /^INVALID_FORMAT: Your template has parameters placed next to each other\. Separate/;
    await eventually(async () => words.test(String((await site.shown('refused_offer'))?.reason)), 'why');
    expect(await site.announced('refused_offer')).to.deep.equal(['template.rejected rejected']);

    // Callback times are whole seconds: the next decision needs another one, or it would look like the known one.
    const second = () => Math.floor(Date.now() / 1_000);
    const now = second();
    await eventually(() => second() > now, 'the next second');
    const { name: _, language: _l, ...content } = { name: '', ...DRAFT, body: 'Hi {{1}}, order {{2}} has left today.' };
    const path = `${TEMPLATES_PATH}/refused_offer/en_US`;
    const { body } = await site.call('patch', path, content).expect(200);

    expect(body).to.include({ change: 'edit', state: 'rejected' });
    await eventually(
      async () => (await site.shown('refused_offer'))?.body === 'Hi {{1}}, order {{2}} has left today.',
      'the provider has the other text',
    );
    await site.until('refused_offer', 'rejected');
    expect(site.provider.templateRequests().map(({ method }) => method)).to.deep.equal(['POST', 'EDIT']);
  });

  it('edited with another category: a rejected one is reviewed in that, of an approved one it is refused', async () => {
    await world.startWorker();
    const { language: _, ...content } = DRAFT;
    const edit = (name: string, body: string, category: string) =>
      site.call('patch', `${TEMPLATES_PATH}/${name}/en_US`, { ...content, body, category });
    const has = (name: string, category: string, body: string) =>
      eventually(async () => {
        const shown = await site.shown(name);
        expect(shown).to.include({ category, body, change: null, change_refused: null });
        return true;
      }, `${name} is ${category}`);
    await site.ask('refused_offer').expect(200);
    await site.until('refused_offer', 'rejected');
    await site.ask('order_left').expect(200);
    await site.until('order_left', 'approved');

    await edit('refused_offer', DRAFT.body, 'marketing').expect(200);
    const today = 'Hi {{1}}, order {{2}} has left today.';
    const { body: refused } = await edit('order_left', today, 'marketing').expect(400);
    expect(refused.errors[0]).to.include({ field: 'category', code: 'conflict' });
    await edit('order_left', today, 'utility').expect(200);

    await has('refused_offer', 'marketing', DRAFT.body);
    await has('order_left', 'utility', today);
  });

  it('paused and disabled after it was approved: announced as stopped', async () => {
    await world.startWorker();
    await site.ask('paused_soon').expect(200);

    await site.until('paused_soon', 'paused');

    // The list may have given the state before the callback, which has the reason.
    await eventually(async () => String((await site.shown('paused_soon'))?.reason).startsWith('FIRST_PAUSE'), 'why');
    expect(await site.announced('paused_soon')).to.deep.equal([
      'template.approved approved',
      'template.stopped paused',
    ]);
  });

  it('deleted at the provider, then gone; before the provider was asked, gone at once', async () => {
    await site.ask('never_asked').expect(200);
    const early = await site.call('delete', `${TEMPLATES_PATH}/never_asked/en_US`).expect(200);
    expect(early.body).to.include({ removed: true });
    await world.startWorker();
    await site.ask('short_lived').expect(200);
    await site.until('short_lived', 'approved');
    // As copied from a list without ids.
    await world.store.db
      .collection('chat_templates')
      .updateOne({ name: 'short_lived' }, { $unset: { upstreamId: '' } });

    const { body } = await site.call('delete', `${TEMPLATES_PATH}/short_lived/en_US`).expect(200);

    expect(body).to.include({ removed: false });
    const methods = () => site.provider.templateRequests().map(({ method }) => method);
    await eventually(() => methods().includes('DELETE'), 'the provider is asked');
    expect(await site.announced('short_lived'), 'it is not forgotten before that').to.deep.equal([
      'template.approved approved',
    ]);
    await eventually(async () => (await site.shown('short_lived')) === undefined, 'it is gone');
    expect(site.provider.options.templates.some(({ name }) => name === 'short_lived')).to.equal(false);
    expect(methods()).to.deep.equal(['POST', 'DELETE']);
    expectProblem(await site.call('delete', `${TEMPLATES_PATH}/never_asked/en_US`), 'template_not_found');
  });

  it('an answer that was lost is looked up by name: asked once', async () => {
    await world.startWorker();
    await site.ask('cut_off').expect(200);

    await site.until('cut_off', 'approved');

    expect(site.provider.templateRequests()).to.deep.equal([{ method: 'POST', name: 'cut_off', status: 0 }]);
  });

  it('an edit that may have been asked of a rejected one, with a text that stays: asked', async () => {
    await world.startWorker();
    await site.ask('refused_offer').expect(200);
    await site.until('refused_offer', 'rejected');
    await eventually(async () => (await site.shown('refused_offer'))?.change === null, 'nothing is asked any more');
    const [created] = site.provider.templateRequests();

    // As left by a worker that was killed after noting its request.
    await world.store.db
      .collection<ChatTemplateRequestDocument>('chat_template_requests')
      .updateOne(
        { _id: chatTemplateId(ownerOf(site.account, site.provider.options.businessId), 'refused_offer', 'en_US') },
        { $set: { wants: 'edit', request: newId('req'), askedAt: new Date(), due: new Date(), tries: 1 } },
      );

    const asked = { method: 'EDIT', name: 'refused_offer', status: 200 };
    await eventually(() => site.provider.templateRequests().length === 2, 'the provider is asked');
    expect(site.provider.templateRequests()).to.deep.equal([created, asked]);
  });

  for (const [point, before] of [
    ['template:asked', 0],
    ['template:answered', 1],
  ] as const) {
    it(`kill -9 at ${point}: the successor asks if nobody did, and nobody asks twice`, async () => {
      const first = await workers.start(world.store, { HARKARA_SECRET_KEY: KEY, HARKARA_CRASH_AT: point });
      await site.ask('crash_order').expect(200);
      await ended(first);
      expect(site.provider.templateRequests()).to.have.length(before);

      await workers.start(world.store, { HARKARA_SECRET_KEY: KEY });

      await site.until('crash_order', 'approved');
      expect(site.provider.templateRequests()).to.deep.equal([{ method: 'POST', name: 'crash_order', status: 200 }]);
      expect(await site.announced('crash_order')).to.deep.equal(['template.approved approved']);
    });
  }

  it('an account with more requests than one look reads holds up no other, however slow its provider is', async () => {
    const hangs = (): void => {};
    const [one, other] = [await world.openAccount(hangs), await world.openAccount(hangs)];
    const [flooded, behind] = one.id < other.id ? [one, other] : [other, one];
    const draft = {
      category: 'utility',
      components: { body: 'Bye', buttons: [] },
      examples: { body: [], buttons: [] },
    } as const;
    const requestOf = ({ id: account }: typeof one, name: string): ChatTemplateRequestDocument => ({
      ...{
        _id: chatTemplateId(ownerOf(account), name, 'en_US'),
        ...ownerOf(account),
        name,
        language: 'en_US',
        wants: 'create',
        draft,
      },
      ...{ request: newId('req'), requestedAt: new Date(), due: new Date(), tries: 0 },
    });
    const requests = world.store.db.collection<ChatTemplateRequestDocument>('chat_template_requests');
    await requests.insertMany(Array.from({ length: 150 }, (_, n) => requestOf(flooded, `n${n}`)));
    await requests.insertOne(requestOf(behind, 'order_left'));
    await world.startWorker();

    await eventually(() => behind.provider.sends.length === 1, 'the other one’s provider is asked');

    expect(flooded.provider.sends).to.have.length(1);
  });

  it('counts characters, not their halves', async () => {
    const body = '👋'.repeat(1_024);
    await site.ask('waves', { body, body_examples: [] }).expect(200);
    expectProblem(await site.ask('more_waves', { body: `${body}👋`, body_examples: [] }), 'invalid_request');
  });

  it('names what a review would refuse, and other accounts and readers get 404 and 403', async () => {
    const bad = { name: 'Bad Name', body: '{{1}}{{3}} hi', footer: 'Hi {{1}}', header: { format: 'text' } };
    const refused = await site.ask('x', bad);
    expectProblem(refused, 'invalid_request');
    const again = await site.ask('x', {
      ...bad,
      name: 'good',
      body: '{{1}}{{3}}{{2}} hi',
      header: { format: 'image' },
    });
    const fields = again.body.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.include.members(['body', 'body_examples', 'footer', 'header.example_url']);
    await site.ask('mine').expect(200);
    const { db } = world.store;
    const stranger = await makeKey(db, await makeAccount(db, 0), ['read', 'manage']);
    const reader = await makeKey(db, site.account, ['read']);
    const { name: _n, language: _l, ...content } = { name: '', ...DRAFT };

    for (const [key, slug] of [
      [stranger, 'template_not_found'],
      [reader, 'scope_missing'],
    ] as const) {
      expectProblem(await site.call('patch', `${TEMPLATES_PATH}/mine/en_US`, content, key), slug);
      expectProblem(await site.call('delete', `${TEMPLATES_PATH}/mine/en_US`, undefined, key), slug);
    }
    expectProblem(
      await site.call('post', TEMPLATES_PATH, { name: 'mine', ...DRAFT }, stranger),
      'chatapp_not_configured',
    );
    expect((await site.call('get', TEMPLATES_PATH, undefined, stranger).expect(200)).body.data).to.deep.equal([]);
  });
});
