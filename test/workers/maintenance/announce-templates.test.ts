import assert from 'node:assert/strict';
import { removeUnapproved } from '../../../gateway/endpoints/account-templates/requests.ts';
import { eventsOf } from '../../../shared/events/catalogue.ts';
import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import { createEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId, type TemplateRequestId } from '../../../shared/platform/runtime/ids.ts';
import { chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import {
  dropRequest,
  findChatTemplate,
  findChatTemplateRequests,
  forgetTemplate,
  noteChatTemplate,
  refuseRequest,
  replaceChatTemplates,
  wishChatTemplate,
} from '../../../shared/templates/chat/store.ts';
import {
  createTemplateRequest,
  giveDltId,
  listTemplateRequests,
  rejectTemplateRequest,
  removeTemplateRequest,
  resubmitRequest,
} from '../../../shared/templates/sms/request-store.ts';
import { createTemplate, decideTemplate, findTemplate } from '../../../shared/templates/sms/store.ts';
import type { TemplateRequestDocument } from '../../../shared/templates/sms/template.ts';
import { announceTemplates } from '../../../workers/maintenance/announce.ts';
import { makeTemplate } from '../../shared/templates/sms/make.ts';
import { makeChatTemplate, ownerOf, TEST_BOX } from '../../support/chatapp.ts';
import { makeAccount } from '../../support/make.ts';
import { useStore } from '../../support/store.ts';
import { tellDeps } from '../../support/tell-deps.ts';

const ID = '1107160000000000001';

describe('what was decided about templates is announced', () => {
  const store = useStore();
  let account: Awaited<ReturnType<typeof makeAccount>>;
  beforeEach(async () => {
    account = await makeAccount(store.db, 0);
    const endpoint = { account, channel: 'sms', url: 'https://shop.test/sms', events: eventsOf('sms') } as const;
    await createEndpoint(store.db, systemClock, TEST_BOX, endpoint);
  });
  const announce = () => announceTemplates(tellDeps(store.db));
  const bodies = async (): Promise<object[]> => {
    const deliveries = store.db.collection<DeliveryDocument>('deliveries');
    const found = await deliveries.find({ account }).sort({ createdAt: 1, _id: 1 }).toArray();
    for (const one of found) expect(one).not.to.have.property('message');
    return found.map(({ body }) => JSON.parse(body) as object);
  };
  const request = async (): Promise<TemplateRequestId> => {
    const _id = newId('tpr');
    const text = { name: 'Code', senders: ['HARKRA'], routes: ['transactional'], content: 'Bye {#var#}' } as const;
    await createTemplateRequest(store.db, systemClock, { _id, account, ...text });
    return _id;
  };

  it('each decision once, with its reason, and both of two that came at once', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: ID, status: 'submitted' }));
    await decideTemplate(store.db, systemClock, account, ID, 'approved');
    await decideTemplate(store.db, systemClock, account, ID, 'rejected', 'Not yours.');

    expect(await announce()).to.equal(2);
    expect(await announce()).to.equal(0);

    const announced = await bodies();
    expect(announced).to.have.length(2);
    const [approved, rejected] = ['template.approved', 'template.rejected'].map((event) =>
      announced.find((body) => Reflect.get(body, 'event') === event),
    );
    expect(approved).to.include({ template_id: ID, status: 'approved', reason: null, channel: 'sms' });
    expect(rejected).to.include({ template_id: ID, status: 'rejected', reason: 'Not yours.' });
    expect((await findTemplate(store.db, account, ID))?.unannounced).to.deep.equal([]);
  });

  it('a process that died after telling tells nothing twice', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: ID, status: 'submitted' }));
    await decideTemplate(store.db, systemClock, account, ID, 'approved');
    const { unannounced } = (await findTemplate(store.db, account, ID)) ?? {};
    await announce();
    await store.db.collection('templates').updateOne({ account }, { $set: { unannounced } });

    await announce();

    expect(await bodies()).to.have.length(1);
  });

  it('of a request without an id, too; what is rejected is not decided about twice', async () => {
    const id = await request();
    expect(await rejectTemplateRequest(store.db, systemClock, account, id, 'No such header.')).to.equal(true);
    expect(await rejectTemplateRequest(store.db, systemClock, account, id, 'Again.')).to.equal(false);

    await announce();

    expect((await bodies())[0]).to.include({ event: 'template.rejected', template_id: id, reason: 'No such header.' });
  });

  it('of what its account takes back before that was announced: it is gone when it was', async () => {
    const id = await request();
    await rejectTemplateRequest(store.db, systemClock, account, id, 'No such header.');
    const own = makeTemplate({ dltId: ID, status: 'submitted', requested: true });
    await createTemplate(store.db, systemClock, account, own);
    await decideTemplate(store.db, systemClock, account, ID, 'rejected', 'Not yours.');
    const remove = () =>
      Promise.all([removeTemplateRequest(store.db, account, id), removeUnapproved(store.db, account, ID)]);

    expect(await remove()).to.deep.equal([false, false]);
    await announce();

    expect((await bodies()).map((body) => Reflect.get(body, 'template_id'))).to.have.members([id, ID]);
    expect(await remove()).to.deep.equal([true, true]);
  });

  it('of a request that gets another text and its id before that was announced, under the id that it had', async () => {
    const id = await request();
    await rejectTemplateRequest(store.db, systemClock, account, id, 'No such header.');
    const unannounced = await store.db.collection<TemplateRequestDocument>('template_requests').findOne({ _id: id });
    await resubmitRequest(store.db, systemClock, account, id, { content: 'Better {#var#}' });
    await giveDltId(store.db, systemClock, account, id, ID, 'operator');

    await announce();

    expect(await bodies()).to.have.length(1);
    expect((await bodies())[0]).to.include({ event: 'template.rejected', template_id: id, reason: 'No such header.' });
    // Whoever announced it just before the template was made does not announce it again.
    assert(unannounced !== null);
    await store.db.collection<TemplateRequestDocument>('template_requests').insertOne(unannounced);
    await announce();
    expect(await bodies()).to.have.length(1);
  });

  describe('of a chat-app template', () => {
    let _id: ReturnType<typeof chatTemplateId>;
    beforeEach(async () => {
      const endpoint = { account, url: 'https://shop.test/chat', events: eventsOf('chatapp') };
      await createEndpoint(store.db, systemClock, TEST_BOX, { ...endpoint, channel: 'chatapp' });
      _id = chatTemplateId(ownerOf(account), 'order_left', 'en_US');
    });
    const draft = {
      category: 'utility',
      components: { body: 'Bye', buttons: [] },
      examples: { body: [], buttons: [] },
    } as const;
    const wish = (wants: 'create' | 'delete' = 'create'): Parameters<typeof wishChatTemplate>[1] => ({
      ...{ _id, ...ownerOf(account), name: 'order_left', language: 'en_US', wants, draft },
      ...{ request: newId('req'), requestedAt: new Date() },
    });
    const asked = async () => (await findChatTemplateRequests(store.db, [_id])).get(_id);
    const askedFor = async (wants: 'create' | 'delete') => {
      await wishChatTemplate(store.db, wish(wants));
      const request = await asked();
      assert(request !== undefined);
      return request;
    };

    it('that its account asked for once more before that was announced', async () => {
      await refuseRequest(store.db, await askedFor('create'), 'No such language.', new Date());

      expect(await wishChatTemplate(store.db, wish())).to.equal(true);
      await announce();

      expect((await bodies())[0]).to.include({ event: 'template.rejected', name: 'order_left' });
      expect(await asked())
        .to.include.keys('due')
        .and.not.have.property('refusal');
    });

    it('that its account takes back before that was announced: it is gone when it was', async () => {
      await refuseRequest(store.db, await askedFor('create'), 'No such language.', new Date());

      expect(await dropRequest(store.db, _id)).to.equal(false);
      await announce();

      expect((await bodies())[0]).to.include({ event: 'template.rejected', name: 'order_left' });
      expect(await dropRequest(store.db, _id)).to.equal(true);
    });

    it('that the provider has deleted before that was announced: it is forgotten when it was', async () => {
      const known = makeChatTemplate(account, { name: 'order_left', language: 'en_US' });
      await replaceChatTemplates(store.db, ownerOf(account), [known]);
      await noteChatTemplate(store.db, ownerOf(account), 'order_left', 'en_US', { status: 'disabled' }, new Date());
      const request = await askedFor('delete');

      expect(await forgetTemplate(store.db, request)).to.equal(false);
      await announce();

      expect((await bodies())[0]).to.include({ event: 'template.stopped', status: 'disabled' });
      expect(await forgetTemplate(store.db, request)).to.equal(true);
      expect([await findChatTemplate(store.db, ownerOf(account), 'order_left', 'en_US'), await asked()]).to.deep.equal([
        undefined,
        undefined,
      ]);
    });
  });

  it('a request whose process died after it got its id becomes a template when it is read', async () => {
    const id = await request();
    await store.db
      .collection<TemplateRequestDocument>('template_requests')
      .updateOne({ _id: id }, { $set: { dltId: ID } });

    const listed = await listTemplateRequests(store.db, systemClock, account, {}, undefined, 10);

    expect(listed).to.deep.equal([]);
    const made = { status: 'submitted', request: id, requested: true, content: 'Bye {#var#}' };
    expect(await findTemplate(store.db, account, ID)).to.include(made);
    expect(await giveDltId(store.db, systemClock, account, id, ID, 'operator')).to.include(made);
  });
});
