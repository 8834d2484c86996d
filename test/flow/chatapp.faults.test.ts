import assert from 'node:assert/strict';
import { ERRORS } from '../../scripts/simulator/provider/magic-customers.ts';
import { TEMPLATES } from '../../scripts/simulator/provider/templates.ts';
import type { Provider } from '../../scripts/simulator/provider.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, useProduct } from '../support/product.ts';

const SETTLED_MS = 120_000;
const BUSINESS_PRICE = 2;
const USER_PRICE = 1;

/** A template to a customer whose number ends in these digits (docs/magic-numbers.md), as the caller sees it. */
interface MagicCase {
  readonly ending: string;
  readonly status: string;
  /** Events in any order. One with a question mark may be missing, if a later status is settled first. */
  readonly events: readonly string[];
  readonly errorCode?: string;
  readonly refunded?: true;
  readonly language?: string;
}

const MAGIC: readonly MagicCase[] = [
  { ending: '301', status: 'failed', events: ['sent', 'failed'], errorCode: 'undeliverable', refunded: true },
  { ending: '302', status: 'rejected', events: ['rejected'], errorCode: 'undeliverable', refunded: true },
  { ending: '303', status: 'rejected', events: ['rejected'], errorCode: 'session_closed', refunded: true },
  { ending: '304', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '305', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '306', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '307', status: 'read', events: ['sent', 'read'] },
  { ending: '308', status: 'read', events: ['sent', 'delivered?', 'read'] },
  { ending: '309', status: 'read', events: ['sent', 'delivered?', 'read'] },
  { ending: '310', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '311', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '312', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '313', status: 'sent', events: ['sent'] },
  { ending: '314', status: 'delivered', events: ['sent', 'failed?', 'delivered'] },
  { ending: '315', status: 'failed', events: ['sent', 'failed'], errorCode: 'media_unavailable', refunded: true },
  // The provider pauses this template, so it has its own language and does not stop the other cases.
  {
    ending: '317',
    status: 'rejected',
    events: ['rejected'],
    errorCode: 'template_paused',
    refunded: true,
    language: 'hi',
  },
  { ending: '318', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '319', status: 'rejected', events: ['rejected'], errorCode: 'country_not_allowed', refunded: true },
];

/** Another number of the account, with its own business account. */
const SECOND = {
  phoneNumberId: '106540352242923',
  businessId: '102290129340399',
  displayNumber: '15550783882',
  templates: TEMPLATES,
} as const;

describe('the chat-app channel, through real processes', function () {
  this.timeout(SETTLED_MS * 2);
  const product = useProduct({ chatapp: { provider: { more: [SECOND] } }, sharded: true });
  let provider: Provider;

  before(async () => {
    assert(product.provider !== undefined, 'it was asked for');
    provider = product.provider;
  });

  const sendTemplate = (to: string, language = 'en_US') =>
    product.post('/v2/chatapp/send', { to, template: 'order_update', language, params: ['Asha', '1234'] });
  const balance = async () => Number((await product.get('/v2/balance')).body.balance);
  const postsOf = (id: unknown) => product.receiver.received().filter(({ json }) => json.message_id === id);

  async function reaches(id: unknown, status: string): Promise<Answer['body']> {
    return eventually(
      async () => {
        const { body } = await product.get(`/v2/status/${id}`);
        if (body.status !== status) throw new Error(JSON.stringify(body));
        return body;
      },
      `${id} ${status}`,
      SETTLED_MS,
    );
  }

  it('a template opens a conversation, the customer answers, a text goes in the session, and outside it is refused', async () => {
    const before = await balance();
    const template = await sendTemplate('919876543210');
    expect(template.body).deep.equal({
      status: 'success',
      message_id: template.body.message_id,
      conversation_id: template.body.conversation_id,
    });
    await reaches(template.body.message_id, 'read');
    expect(await balance()).equal(before - BUSINESS_PRICE);

    const closed = await product.post('/v2/chatapp/send-text', { to: '919876543210', message: 'Too early' });
    expect([closed.status, closed.body.code]).deep.equal([403, 'session_closed']);

    provider.says('919876543210', 'Where is it now?');
    await eventually(
      () => {
        const received = product.receiver.received().find(({ json }) => json.event === 'message.received');
        expect(received?.signature).equal('valid');
        expect(received?.json).deep.include({ from: '919876543210', type: 'text', body: 'Where is it now?' });
        return true;
      },
      'what the customer wrote',
      SETTLED_MS,
    );

    const words = { to: '919876543210', message: 'It arrives tomorrow.' };
    const text = await product.post('/v2/chatapp/send-text', words, { 'idempotency-key': 'arrives' });
    expect(text.status, JSON.stringify(text.body)).equal(200);
    await reaches(text.body.message_id, 'read');
    expect(await balance(), 'the conversation is paid').equal(before - BUSINESS_PRICE);
    expect(provider.taken().at(-1)?.body.text).deep.equal({ body: 'It arrives tomorrow.', preview_url: false });
  });

  it('a customer who writes first opens the session: the business pays the lower price, once', async () => {
    const before = await balance();
    provider.says('919876543220', 'Do you deliver to Pune?');
    const send = (path: string, body: object) => product.post(`/v2/chatapp/${path}`, { to: '919876543220', ...body });
    const first = await eventually(
      async () => {
        const answer = await send('send-text', { message: 'We do.' });
        if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
        return answer;
      },
      'the session',
      SETTLED_MS,
    );
    const buttons = await send('send-buttons', {
      body: 'Shall we?',
      buttons: [
        { id: 'yes', title: 'Yes' },
        { id: 'no', title: 'No' },
      ],
    });

    expect(buttons.status, JSON.stringify(buttons.body)).equal(200);
    await reaches(first.body.message_id, 'read');
    await reaches(buttons.body.message_id, 'read');
    expect(await balance()).equal(before - USER_PRICE);
  });

  it('a customer of Brazil answers from another number than was written to: one session, one conversation', async () => {
    const before = await balance();
    const [typed, known] = ['5531987654328', '553187654328'];
    const template = await sendTemplate(typed);
    await reaches(template.body.message_id, 'read');
    provider.says(typed, 'Obrigado');
    await eventually(
      () => product.receiver.received().some(({ json }) => json.event === 'message.received' && json.from === known),
      'what the customer wrote',
      SETTLED_MS,
    );

    for (const to of [typed, known]) {
      const text = await product.post('/v2/chatapp/send-text', { to, message: 'De nada' });
      expect(text.status, JSON.stringify(text.body)).equal(200);
      await reaches(text.body.message_id, 'read');
    }
    const thread = await product.get(`/v2/account/inbox/${known}`);
    expect(thread.body).deep.include({ aliases: [typed], session_open: true });
    expect(thread.body.data).lengthOf(4);
    expect(await balance()).equal(before - BUSINESS_PRICE);
  });

  it('a customer who shows no number is answered by the user id', async () => {
    const before = await balance();
    const userId = 'IN.1648738043044942';
    provider.says(userId, 'Do you deliver?');
    await eventually(
      () => product.receiver.received().some(({ json }) => json.event === 'message.received' && json.from === userId),
      'what the customer wrote',
      SETTLED_MS,
    );

    const text = await product.post('/v2/chatapp/send-text', { to: userId, message: 'We do.' });
    expect(text.status, JSON.stringify(text.body)).equal(200);
    await reaches(text.body.message_id, 'read');
    expect(provider.taken().at(-1)?.body).include({ recipient: userId });
    expect(await balance()).equal(before - USER_PRICE);
  });

  it('two numbers of one account: sends, events and the inbox say which; a removed one gives back what waited', async () => {
    const [first, second] = [provider.options.displayNumber, SECOND.displayNumber];
    const { phoneNumberId, businessId } = SECOND;
    const { token, appSecret } = provider.options;
    Object.assign(process.env, { HARKARA_CHATAPP_TOKEN: token, HARKARA_CHATAPP_APP_SECRET: appSecret });
    const ids = `--phone-number-id ${phoneNumberId} --business-id ${businessId}`;
    await product.ops(`provider set ${second} --account ${product.account} --base-url ${provider.url}/v23.0 ${ids}`);
    const to = '919876543230';
    const template = { to, template: 'order_update', language: 'en_US', params: ['Asha', '1234'] };
    const accepted = (path: string, body: object): Promise<Answer['body']> =>
      eventually(
        async () => {
          const answer = await product.post(`/v2/chatapp/${path}`, body);
          if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
          return answer.body;
        },
        'an accepted message',
        SETTLED_MS,
      );
    // Until every process knows the number and its templates are copied.
    const named = await accepted('send', { ...template, from: second });
    await reaches(named.message_id, 'read');
    const unnamed = await accepted('send', template);
    await reaches(unnamed.message_id, 'read');
    expect(
      provider
        .taken()
        .slice(-2)
        .map(({ from }) => from),
    ).deep.equal([second, first]);
    for (const [id, from] of [
      [named.message_id, second],
      [unnamed.message_id, first],
    ]) {
      await eventually(() => postsOf(id).some(({ json }) => json.event === 'message.read'), 'its events', SETTLED_MS);
      expect(new Set(postsOf(id).map(({ json }) => json.from))).deep.equal(new Set([from]));
    }

    provider.says(to, 'Is anybody there?', second);
    const text = await accepted('send-text', { to, message: 'Yes.', from: second });
    await reaches(text.message_id, 'read');
    const closed = await product.post('/v2/chatapp/send-text', { to, message: 'And here?', from: first });
    expect([closed.status, closed.body.code]).deep.equal([403, 'session_closed']);
    const answer = await accepted('send-text', { to, message: 'The number that was written to last.' });
    await reaches(answer.message_id, 'read');
    expect(
      provider
        .taken()
        .slice(-2)
        .map(({ from }) => from),
    ).deep.equal([second, second]);
    const { body: inbox } = await product.get(`/v2/account/inbox?number=${second}`);
    expect(inbox.data).lengthOf(1);
    expect(inbox).nested.include({ 'data[0].to': to, 'data[0].number': second, 'data[0].session_open': true });
    const { body: thread } = await product.get(`/v2/account/inbox/${to}?number=${first}`);
    expect(thread).deep.include({ number: first, session_open: false });
    expect(thread.data).lengthOf(1);

    await product.ops(`provider pause ${second}`);
    let before = 0;
    let waits: unknown;
    // Until the worker knows of the pause: the message still waits when a later one of the other number was read.
    for (let n = 231, held = false; !held; n++) {
      before = await balance();
      waits = (await accepted('send', { ...template, to: `919876543${n}`, from: second })).message_id;
      const later = await accepted('send', { ...template, from: first });
      await reaches(later.message_id, 'read');
      held = (await product.get(`/v2/status/${waits}`)).body.status === 'queued';
    }
    await product.ops(`provider remove ${second}`);
    const removed = await reaches(waits, 'rejected');
    expect(removed).include({ error_code: 'number_removed' });
    await eventually(async () => (await balance()) === before, 'the refund', SETTLED_MS);
    expect(await verifyLedger(product.db, product.account)).deep.include({ problems: [] });
  });

  it('media that the provider takes and cannot fetch: what was sent in the conversation keeps it paid, again and again', async () => {
    const before = await balance();
    // The provider sends no status for this number by itself.
    const to = '919876543313';
    const tell = (ours: unknown, status: 'failed' | 'delivered'): void => {
      const id = provider.taken().find(({ opaque }) => opaque === ours)?.id;
      const timestamp = String(Math.floor(Date.now() / 1_000));
      provider.post({ statuses: [{ id, status, timestamp, recipient_id: to, biz_opaque_callback_data: ours }] });
    };
    const send = async (path: string, body: object): Promise<Answer['body']> =>
      eventually(
        async () => {
          const answer = await product.post(`/v2/chatapp/${path}`, { to, ...body });
          if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
          return answer.body;
        },
        'an accepted message',
        SETTLED_MS,
      );
    const sendMedia = (name: string) => send('send-media', { type: 'image', url: `https://93.184.216.34/${name}.jpg` });
    provider.says(to, 'Show me');

    // The conversation has no other message, so its price is given back.
    const alone = await sendMedia('unfetchable');
    await reaches(alone.message_id, 'failed');
    await eventually(async () => (await balance()) === before, 'the refund', SETTLED_MS);

    for (let i = 0; i < 3; i++) {
      const opener = await sendMedia('photo');
      const includedMessages: Answer['body'][] = [];
      for (let j = 0; j < 3; j++) includedMessages.push(await send('send-text', { message: `Text ${j}` }));
      for (const { message_id } of [opener, ...includedMessages]) await reaches(message_id, 'sent');
      tell(opener.message_id, 'failed');
      await reaches(opener.message_id, 'failed');
      for (const { message_id } of includedMessages) {
        // Settled after everything that follows from the opener's failure.
        tell(message_id, 'delivered');
        await reaches(message_id, 'delivered');
      }
      expect(await balance(), 'one conversation is paid').equal(before - USER_PRICE);
    }

    expect(await verifyLedger(product.db, product.account)).deep.include({ problems: [] });
    expect(await product.ops('ledger verify')).include('ledgers are whole');
  });

  it('every fate that a provider can prepare ends in its state, told once, and what it refused is given back', async () => {
    const before = await balance();
    const ids = new Map<string, unknown>();
    for (const { ending, language } of MAGIC) {
      const { status, body } = await sendTemplate(`919876545${ending}`, language);
      expect(status, JSON.stringify(body)).equal(200);
      ids.set(ending, body.message_id);
    }

    for (const { ending, status, errorCode } of MAGIC) {
      const record = await reaches(ids.get(ending), status);
      expect([ending, record.error_code]).deep.equal([ending, errorCode]);
    }
    await eventually(
      () => {
        for (const { ending, events } of MAGIC) {
          const told = postsOf(ids.get(ending)).map(({ json, signature }) => `${json.status} ${signature}`);
          const wanted = events.filter((event) => !event.endsWith('?') || told.includes(`${event.slice(0, -1)} valid`));
          expect([ending, ...told.sort()]).deep.equal([
            ending,
            ...wanted.map((event) => `${event.replace('?', '')} valid`).sort(),
          ]);
        }
        return true;
      },
      'the webhooks of all',
      SETTLED_MS,
    );
    const paid = MAGIC.filter(({ refunded }) => refunded === undefined).length * BUSINESS_PRICE;
    // The price of 314 is given back if its failure is settled before its delivery, which charges nothing again.
    const right = [before - paid, before - paid + BUSINESS_PRICE];
    await eventually(async () => right.includes(await balance()), 'the refunds', SETTLED_MS);
    expect(await verifyLedger(product.db, product.account)).deep.include({ problems: [] });

    const taken = new Map<string, number>();
    for (const { to } of provider.taken()) taken.set(to, (taken.get(to) ?? 0) + 1);
    expect([...taken].filter(([to, times]) => to.startsWith('919876545') && times > 1)).deep.equal([]);
  });

  it('a provider that lets the account in no more stops the channel; when it is resumed, what waited leaves', async () => {
    provider.refuseAll(ERRORS.token);
    const waiting = await sendTemplate('919876546320');
    expect(waiting.status).equal(200);
    await eventually(
      async () => {
        const { status, body } = await sendTemplate('919876546321');
        expect([status, body.code]).deep.equal([503, 'chatapp_stopped']);
        return true;
      },
      'a refusal',
      SETTLED_MS,
    );
    expect((await product.get(`/v2/status/${waiting.body.message_id}`)).body.status).equal('queued');

    provider.refuseAll(undefined);
    await product.ops(`provider resume ${provider.options.displayNumber}`);
    await reaches(waiting.body.message_id, 'read');
    await eventually(async () => (await sendTemplate('919876546322')).status === 200, 'sends again', SETTLED_MS);
  });
});
