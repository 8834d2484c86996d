import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { type ChatTemplateRequestDocument, chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import { replaceListed } from '../../../shared/templates/chat/store.ts';
import { judgeTemplateAnswer } from '../../../workers/chatapp/provider/template-request.ts';
import { ownerOf } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { graphError, json } from './provider-server.ts';
import { type ChatAccount, chatWorld } from './world.ts';

/** Meta's answer for a business id or template that is wrong or hidden from the token. */
const NO_ACCESS = graphError(100, 'Unsupported post request', { type: 'GraphMethodException', error_subcode: 33 });
const DRAFT = {
  category: 'utility',
  components: { body: 'Bye', buttons: [] },
  examples: { body: [], buttons: [] },
} as const;

describe('chatapp worker: a template that the provider does not let us ask for', () => {
  const world = chatWorld();
  afterEach(async () => {
    for (const name of ['chat_templates', 'chat_template_requests'])
      await world.store.db.collection(name).deleteMany({});
  });

  const requests = () => world.store.db.collection<ChatTemplateRequestDocument>('chat_template_requests');
  async function want({ id: account }: ChatAccount, wants: 'create' | 'edit') {
    const name = 'order_left';
    const _id = chatTemplateId(ownerOf(account), name, 'en_US');
    const asked = { request: newId('req'), requestedAt: new Date(), due: new Date(), tries: 0 };
    await requests().insertOne({ _id, ...ownerOf(account), name, language: 'en_US', wants, draft: DRAFT, ...asked });
    return _id;
  }

  it('waits, the operator is told, and it is asked for when the settings are right', async () => {
    const account = await world.openAccount((_, res) => json(res, 400, NO_ACCESS));
    const trouble = async () => (await findProvider(world.store.db, account.number))?.troubles?.requests;
    const _id = await want(account, 'create');
    await world.startWorker();

    const told = await eventually(trouble, 'the operator is told');
    expect(told?.reason).to.equal(
      'there is no such business id, or the access token may not manage its templates (HTTP 400, code 100)',
    );
    const waiting = await eventually(() => requests().findOne({ _id, tries: { $gte: 1 } }), 'it is put off');
    expect(waiting?.due).to.be.instanceOf(Date);
    expect(waiting).not.to.have.any.keys('refusal', 'unannounced');

    account.provider.answer = (_, res) => json(res, 200, { id: '1', status: 'PENDING', category: 'UTILITY' });
    await eventually(async () => (await requests().findOne({ _id }))?.due === undefined, 'it is asked for');
    await eventually(async () => (await trouble()) === undefined, 'the note is taken away');
  });

  it('a change of a template that the provider has deleted is refused', async () => {
    const account = await world.openAccount((_, res) => json(res, 400, NO_ACCESS));
    const _id = await want(account, 'edit');
    const shown = { name: 'order_left', language: 'en_US', status: 'approved', category: 'utility' };
    const copy = { _id, ...ownerOf(account.id), ...shown, upstreamId: '77', variables: 0, syncedAt: new Date() };
    await replaceListed(world.store.db, [{ ...copy, components: DRAFT.components }], new Date());
    await world.startWorker();

    const refused = await eventually(() => requests().findOne({ _id, refusal: { $exists: true } }), 'it is refused');

    expect(refused?.refusal).to.equal('The provider has no such template any more.');
  });

  for (const [status, error] of [
    [400, graphError(10)],
    [403, graphError(200)],
    [401, graphError(777)],
  ] as const) {
    it(`HTTP ${status} for a token without the permission is no refusal`, () => {
      const exchange = { kind: 'answered', status, body: Buffer.from(JSON.stringify(error)) } as const;
      expect(judgeTemplateAnswer(exchange).kind).to.equal('later');
    });
  }
});
