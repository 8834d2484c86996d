import assert from 'node:assert/strict';
import { BSON } from 'mongodb';
import { weightOf } from '../../../../gateway/endpoints/chatapp-callbacks/loose-json.ts';
import { eventBody } from '../../../../shared/events/catalogue.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { inboundMessage } from '../../../../workers/chatapp/inbox.ts';
import { callbackPost, statusOf, textMessage } from '../../../support/chat-callback.ts';
import { mergeParts, readAlone } from '../../../support/read-callback.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const SENT = new Date('2026-11-21T09:59:50Z');
const PROVIDER = { _id: '918000000001', account: newId('acc'), phoneNumberId: '1055', businessId: '2055' } as const;
const CUSTOMER = '919876543210';

const read = async (body: object) => mergeParts(await readAlone(body, PROVIDER, NOW));
const readMessage = (message: object, more: object = {}) =>
  read(callbackPost({ messages: [{ from: CUSTOMER, id: 'wamid.1', timestamp: '1795255190', ...message }], ...more }));

describe('chatapp/read-callback', () => {
  it('makes an item of a text, due at once, and opens the session at the time that the provider says', async () => {
    const { items, inbound } = await read(callbackPost({ messages: [textMessage('wamid.A', CUSTOMER, SENT)] }));

    expect(items).to.deep.equal([
      {
        _id: `${PROVIDER.account}:in:wamid.A`,
        account: PROVIDER.account,
        at: NOW,
        due: NOW,
        tries: 0,
        what: {
          kind: 'message',
          number: PROVIDER._id,
          upstreamId: 'wamid.A',
          from: CUSTOMER,
          sentAt: SENT,
          type: 'text',
          body: 'hi',
        },
        weight: 338,
      },
    ]);
    expect(inbound).to.deep.equal([{ account: PROVIDER.account, customer: CUSTOMER, number: PROVIDER._id, at: SENT }]);
  });

  it('makes an item of a status with its error, our message id and the price', async () => {
    const ours = newId('msg');
    const status = {
      ...statusOf('wamid.A', 'failed', SENT),
      biz_opaque_callback_data: ours,
      conversation: { id: 'c1', expiration_timestamp: '1795260000', origin: { type: 'utility' } },
      pricing: { billable: true, pricing_model: 'PMP', type: 'of_2027', category: 'x'.repeat(100), other: [1] },
      errors: [{ code: 131047, title: 'Re-engagement message', error_data: { details: 'More than 24 hours' } }],
    };

    const { items, inbound } = await read(callbackPost({ statuses: [status] }));

    expect(items.map(({ _id }) => _id)).to.deep.equal([`${PROVIDER.account}:failed:wamid.A`]);
    expect(items[0]?.what).to.deep.equal({
      kind: 'status',
      upstreamId: 'wamid.A',
      ours,
      status: 'failed',
      recipient: CUSTOMER,
      at: SENT,
      error: { code: 131047, title: 'Re-engagement message', details: 'More than 24 hours' },
      pricing: { billable: true, model: 'PMP', type: 'of_2027', category: 'x'.repeat(64) },
    });
    expect(inbound).to.deep.equal([]);
  });

  it('opens the session by a call of the customer, told once for its connection and its end', async () => {
    const timestamp = String(SENT.getTime() / 1_000);
    const call = (more: object) => ({ id: 'wacid.1', from: CUSTOMER, to: '918000000001', timestamp, ...more });
    const calls = [
      call({ event: 'connect', direction: 'USER_INITIATED', session: { sdp_type: 'offer', sdp: 'v=0' } }),
      call({ event: 'terminate', direction: 'USER_INITIATED', status: 'COMPLETED' }),
      call({ id: 'wacid.2', event: 'terminate', direction: 'BUSINESS_INITIATED' }),
    ];

    const { items, inbound, ignored } = await read(callbackPost({ calls }, '1055', 'calls'));

    const said = { kind: 'message', upstreamId: 'wacid.1', from: CUSTOMER, sentAt: SENT, type: 'call', body: '' };
    const what = { ...said, number: PROVIDER._id };
    expect(items.map((item) => [item._id, item.what])).to.deep.equal([
      [`${PROVIDER.account}:in:wacid.1`, what],
      [`${PROVIDER.account}:in:wacid.1`, what],
    ]);
    expect(inbound).to.deep.equal(
      Array(2).fill({ account: PROVIDER.account, customer: CUSTOMER, number: PROVIDER._id, at: SENT }),
    );
    expect(ignored).to.include({ other: 1, unreadable: 0 });
  });

  it('makes items of what customers want of marketing, each once', async () => {
    const timestamp = SENT.getTime() / 1_000;
    const wish = { category: 'marketing_messages', timestamp };
    const userId = 'US.13491208655302741918';
    const post = callbackPost(
      {
        user_preferences: [
          { ...wish, wa_id: CUSTOMER, value: 'stop' },
          { ...wish, user_id: userId, value: 'resume' },
          { ...wish, wa_id: CUSTOMER, value: 'of_2027' },
        ],
      },
      '1055',
      'user_preferences',
    );

    const { items, inbound, ignored } = await read(post);

    expect(items.map(({ what }) => what)).to.deep.equal([
      { kind: 'preference', customer: CUSTOMER, wish: 'stopped', toldAt: SENT },
      { kind: 'preference', customer: userId, wish: 'resumed', toldAt: SENT, who: { userId } },
    ]);
    expect((await read(post)).items.map(({ _id }) => _id)).to.deep.equal(items.map(({ _id }) => _id));
    expect([inbound, ignored.other]).to.deep.equal([[], 1]);
  });

  const image = { mime_type: 'image/jpeg', sha256: 'abc', id: 'media-1', caption: 'my receipt' };
  const types: readonly [string, object, string, object | undefined][] = [
    ['image', { image }, 'my receipt', { image }],
    ['sticker', { sticker: { id: 'm2', animated: false } }, '', { sticker: { id: 'm2', animated: false } }],
    ['button', { button: { payload: 'YES', text: 'Yes!' } }, 'Yes!', { button: { payload: 'YES', text: 'Yes!' } }],
    [
      'interactive',
      { interactive: { type: 'button_reply', button_reply: { id: 'y', title: 'Yes' } } },
      'Yes',
      { interactive: { type: 'button_reply', button_reply: { id: 'y', title: 'Yes' } } },
    ],
    [
      'interactive',
      { interactive: { type: 'list_reply', list_reply: { id: 'r', title: 'Row' } } },
      'Row',
      { interactive: { type: 'list_reply', list_reply: { id: 'r', title: 'Row' } } },
    ],
    [
      'interactive',
      { interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{}' } } },
      'Sent',
      { interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{}' } } },
    ],
    ['reaction', { reaction: { message_id: 'w', emoji: '👍' } }, '👍', { reaction: { message_id: 'w', emoji: '👍' } }],
    ['location', { location: { latitude: 1.5, longitude: 2 } }, '', { location: { latitude: 1.5, longitude: 2 } }],
    [
      'order',
      { order: { catalog_id: '1', text: 'Two, please' } },
      'Two, please',
      { order: { catalog_id: '1', text: 'Two, please' } },
    ],
    ['contacts', { contacts: [{ name: { first_name: 'A' } }] }, '', { contacts: [{ name: { first_name: 'A' } }] }],
    ['unsupported', { errors: [{ code: 131051 }] }, '', { errors: [{ code: 131051 }] }],
    ['hologram', { hologram: { id: 'h1', depth: [1, 2] } }, '', { hologram: { id: 'h1', depth: [1, 2] } }],
    ['text', { text: { body: 'hi' }, context: { id: 'wamid.0' } }, 'hi', { context: { id: 'wamid.0' } }],
  ];
  for (const [type, members, body, more] of types) {
    it(`keeps a message of type ${type}: ${JSON.stringify(members)}`, async () => {
      const { items, inbound } = await readMessage({ type, ...members });

      expect(items[0]?.what).to.deep.include({ type, body, more });
      expect(inbound).to.have.lengthOf(1);
    });
  }

  const silent = [
    ['changed number', { type: 'system', system: { body: 'changed number', wa_id: '1' } }],
    ['', { type: 'edit', edit: { original_message_id: 'wamid.0' } }],
    ['', { type: 'revoke', revoke: { original_message_id: 'wamid.0' } }],
    ['hi all', { type: 'text', text: { body: 'hi all' }, group_id: 'Y2FwaV9ncm91cDox' }],
  ] as const;
  for (const [body, message] of silent) {
    it(`opens no session by a message that is kept: ${JSON.stringify(message)}`, async () => {
      const { items, inbound } = await readMessage(message);

      expect(items[0]?.what).to.include({ type: message.type, body });
      expect(inbound).to.deep.equal([]);
    });
  }

  it('takes a time that is none, or has not come yet, for now', async () => {
    for (const [timestamp, at] of [
      ['1795259999', NOW],
      ['soon', NOW],
      [undefined, NOW],
      [null, NOW],
      ['-5', NOW],
      [1795255190, SENT],
    ]) {
      const { inbound } = await readMessage({ timestamp, type: 'text', text: { body: 'x' } });

      expect(inbound[0]?.at, String(timestamp)).to.deep.equal(at);
    }
  });

  it('reads every entry and change of a post, messages and statuses together', async () => {
    const one = (n: number) => ({
      messages: [textMessage(`wamid.m${n}`), textMessage(`wamid.n${n}`)],
      statuses: [statusOf(`wamid.s${n}`, 'sent'), statusOf(`wamid.s${n}`, 'delivered')],
    });
    const posts = [callbackPost(one(1)), callbackPost(one(2))] as { entry: { changes: object[] }[] }[];
    const [first, second] = posts;
    const entry = [...(first?.entry ?? []), { changes: (second?.entry ?? []).flatMap(({ changes }) => changes) }];

    const { items } = await read({ entry });

    expect(items).to.have.lengthOf(8);
    expect(new Set(items.map(({ _id }) => _id)).size).to.equal(8);
  });

  it('leaves out, and counts, what is for another number and what it does not use', async () => {
    const foreign = await read(
      callbackPost({ messages: [textMessage('wamid.A')], statuses: [statusOf('w', 'sent')] }, '1056'),
    );
    const field = await read({
      entry: [{ id: '2055', changes: [{ field: 'message_echoes', value: { event: 'PAUSED' } }] }],
    });
    const status = await read(callbackPost({ statuses: [statusOf('wamid.A', 'warning')] }));
    const nameless = await read(
      callbackPost({ messages: [{ type: 'text' }], statuses: [{ status: 'sent', id: 'x'.repeat(513) }] }),
    );

    for (const { items, inbound } of [foreign, field, status, nameless]) {
      expect(items).to.deep.equal([]);
      expect(inbound).to.deep.equal([]);
    }
    expect(foreign.ignored).to.include({ foreign: 2 });
    expect(field.ignored).to.include({ other: 1 });
    expect(status.ignored).to.include({ other: 1 });
    expect(nameless.ignored).to.include({ unreadable: 2 });
  });

  for (const body of [
    {},
    { entry: null },
    { entry: {} },
    { entry: [null, 1, 'x', []] },
    { entry: [{ changes: 5 }] },
    { entry: [{ changes: [{ field: 'messages' }] }] },
    callbackPost({ messages: {}, statuses: 'sent' }),
  ]) {
    it(`finds nothing in ${JSON.stringify(body).slice(0, 60)}`, async () => {
      expect((await read(body)).items).to.deep.equal([]);
    });
  }

  describe('an item that is larger than any that a provider sends', () => {
    const numbers = Array.from({ length: 5_000 }, (_, i) => i);

    it('is taken without what nobody asked for, and counted; its neighbours are as they were', async () => {
      const message = { ...textMessage('wamid.A', CUSTOMER, SENT), context: { numbers } };
      const { items, inbound, cut } = await read(callbackPost({ messages: [message, textMessage('wamid.B')] }));

      expect(items[0]?.what).to.deep.equal({
        kind: 'message',
        number: PROVIDER._id,
        upstreamId: 'wamid.A',
        from: CUSTOMER,
        sentAt: SENT,
        type: 'text',
        body: 'hi',
      });
      expect(items[1]?.what).to.include({ upstreamId: 'wamid.B', body: 'hi' });
      expect(inbound).to.have.lengthOf(2);
      expect(cut).to.equal(1);
    });

    it('keeps the beginning of its text, and no half of a character', async () => {
      const { items, cut } = await readMessage({ type: 'text', text: { body: `${'x'.repeat(16_383)}😀`.repeat(10) } });

      expect(items[0]?.what).to.include({ body: 'x'.repeat(16_383) });
      expect(cut).to.equal(1);
    });

    it('still tells the fate of our message, and why it failed', async () => {
      const errors = [{ code: 131_026, title: 't'.repeat(5_000), error_data: { details: 'd'.repeat(5_000) } }];
      const status = {
        ...statusOf('wamid.A', 'failed', SENT),
        errors,
        pricing: { numbers },
        conversation: { id: 'c' },
      };
      const { items, cut } = await read(callbackPost({ statuses: [status] }));

      expect(items[0]?.what).to.deep.equal({
        kind: 'status',
        upstreamId: 'wamid.A',
        status: 'failed',
        recipient: CUSTOMER,
        at: SENT,
        error: { code: 131_026, title: 't'.repeat(1_024), details: 'd'.repeat(1_024) },
      });
      expect(cut).to.equal(0);
    });

    it('is none that holds the largest text, or an address book of 257 contacts', async () => {
      const contact = {
        name: { formatted_name: 'Asha Example', first_name: 'Asha', last_name: 'Example' },
        phones: [{ phone: '+91 98765 43210', wa_id: CUSTOMER, type: 'CELL' }],
      };
      const text = await readMessage({ type: 'text', text: { body: '\u0928'.repeat(4_096) } });
      const book = await readMessage({ type: 'contacts', contacts: Array(257).fill(contact) });

      expect([text.cut, book.cut]).to.deep.equal([0, 0]);
      expect(book.items[0]?.what).to.have.nested.property('more.contacts').with.lengthOf(257);
    });

    it('weighs little enough to be stored, whatever it is', async () => {
      for (const member of [
        numbers,
        numbers.map(() => ({})),
        Object.fromEntries(numbers.map((n) => [n, n])),
        'x'.repeat(1e6),
      ]) {
        const { items } = await readMessage({ type: 'x', x: member });

        expect(items[0]?.weight).to.be.at.most(131_072);
        expect(BSON.calculateObjectSize(items[0] ?? {})).to.be.below(200_000);
      }
    });
  });

  it('lets others have their turn while it reads entries, changes, messages or statuses of any kind', async () => {
    const many = (entry: unknown) => Array(240_000).fill(entry);
    for (const body of [
      { entry: many(1) },
      { entry: many({ changes: [{}] }) },
      { entry: [{ changes: many(1) }] },
      callbackPost({ messages: many(0) }),
      callbackPost({ statuses: many({}) }),
    ]) {
      let turns = 0;
      const count = setInterval(() => turns++, 0);
      await read(body);
      clearInterval(count);

      expect(turns).to.be.above(0);
    }
  });

  it('drops names that a store would refuse, and what lies too deep, and keeps the rest', async () => {
    let deep: unknown = 'bottom';
    for (let i = 0; i < 500; i++) deep = { deep };
    const odd = JSON.parse('{"$set": 1, "a.b": 2, "__proto__": {"x": 1}, "ok": [{"$gt": 1, "fine": true}]}');

    const { items } = await readMessage({ type: 'odd', odd, deep });

    const more: { odd?: unknown; deep?: unknown } = Reflect.get(Object(items[0]?.what), 'more');
    expect(more.odd).to.deep.equal({ ok: [{ fine: true }] });
    expect(JSON.stringify(more.deep).length).to.be.below(500);
  });
});

describe('chatapp/read-callback: who wrote', () => {
  const readMessage = async (message: object, more: object = {}) => {
    const messages = [{ from: CUSTOMER, id: 'wamid.1', timestamp: '1795255190', ...message }];
    return mergeParts(await readAlone(callbackPost({ messages, ...more }), PROVIDER, NOW));
  };

  it('keeps a message without a phone number, and takes it from the only contact', async () => {
    const unknown = await readMessage({ from: undefined, type: 'text', text: { body: 'x' } });
    const contact = await readMessage({ from: undefined, type: 'text', text: {} }, { contacts: [{ wa_id: CUSTOMER }] });

    expect([unknown, contact].map(({ items }) => Reflect.get(Object(items[0]?.what), 'from'))).to.deep.equal([
      null,
      CUSTOMER,
    ]);
    expect(unknown.inbound).to.deep.equal([]);
  });

  const USER_ID = 'US.13491208655302741918';
  const nameless: readonly [string, object, object][] = [
    ['beside the message', { from_user_id: USER_ID }, {}],
    ['of the only contact', {}, { contacts: [{ profile: { username: 'asha' }, user_id: USER_ID }] }],
    ['in place of the number', { from: USER_ID }, {}],
  ];
  for (const [where, message, value] of nameless) {
    it(`takes the user id of a customer who shows no number: ${where}`, async () => {
      const { items, inbound } = await readMessage({ from: undefined, type: 'text', text: {}, ...message }, value);

      expect(items[0]?.what).to.include({ from: USER_ID });
      expect(inbound).to.deep.equal([{ account: PROVIDER.account, customer: USER_ID, number: PROVIDER._id, at: SENT }]);
    });
  }

  it('takes the number where both are told', async () => {
    const { items } = await readMessage({ type: 'text', text: {}, from_user_id: USER_ID });

    expect(items[0]?.what).to.deep.include({ from: CUSTOMER, more: { from_user_id: USER_ID } });
  });
});

/** The form of the Groups API. */
const GROUP = 'Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD';

describe('a message in a group', () => {
  for (const [what, body] of [
    ['as it came', 'hi all'],
    ['too large, and cut', 'x'.repeat(200_000)],
  ] as const) {
    it(`${what}: webhooks are told the group`, async () => {
      const message = { from: '919876543210', id: 'wamid.1', timestamp: '1795255190', group_id: GROUP };
      const post = callbackPost({ messages: [{ ...message, type: 'text', text: { body } }] });

      const { items } = mergeParts(await readAlone(post, PROVIDER, NOW));

      const item = items[0]?.what;
      assert(item?.kind === 'message');
      const received = inboundMessage(PROVIDER.account, item, NOW);
      const [entry] = received.history;
      assert(entry !== undefined);
      const event = JSON.parse(eventBody({ message: received, entry }));
      expect(event).to.include({ event: 'message.received', from: '919876543210', group_id: GROUP });
    });
  }
});

describe('chatapp/weight', () => {
  for (const [value, weight] of [
    [undefined, 32],
    [null, 32],
    [1.5, 32],
    ['abc', 35],
    [[], 32],
    [[1, 'a', []], 129],
    [{}, 32],
    [{ ab: 1, c: { d: 'x' } }, 32 + 34 + 33 + 34],
    [new Date(0), 32],
  ] as const) {
    it(`of ${JSON.stringify(value)} is ${weight}`, () => {
      expect(weightOf(value, 1_000)).to.equal(weight);
    });
  }

  it('looks at nothing further once it is above the limit', () => {
    let looked = 0;
    const member = { enumerable: true, get: () => ++looked };
    const names = Array.from({ length: 10_000 }, (_, i) => [`k${i}`, member] as const);

    expect(weightOf(Object.defineProperties({}, Object.fromEntries(names)), 350)).to.be.within(351, 400);
    expect(weightOf(Array(1_000_000).fill(0), 350)).to.be.within(351, 400);
    expect(looked).to.be.below(11);
  });

  it('goes no deeper than what is kept', () => {
    let deep: unknown = 'x'.repeat(10_000);
    for (let i = 0; i < 100_000; i++) deep = [deep];

    expect(weightOf(deep, 100_000)).to.be.below(1_000);
  });
});

const readChange = async (body: object) => mergeParts(await readAlone(body, PROVIDER));
const TIME = 1_763_719_190;
const toldAt = new Date(TIME * 1_000);

describe('chatapp/read-callback: what is told of templates', () => {
  it('makes an item of what is told of a template, by its business, as the provider documents it', async () => {
    const told = (field: string, value: object, id = '2055') =>
      readChange({ entry: [{ id, time: TIME, changes: [{ field, value }] }] });
    const named = { message_template_id: 1, message_template_name: 'cart', message_template_language: 'en-US' };
    const whatOf = async (field: string, value: object) =>
      (await told(field, { ...named, ...value })).items.map(({ what }) => what);
    const template = { kind: 'template', business: '2055', name: 'cart', language: 'en_US' };
    const STATUS = 'message_template_status_update';
    const info = { reason: 'Side by side.', recommendation: 'Separate them.' };

    expect(await whatOf(STATUS, { event: 'REJECTED', reason: 'INVALID_FORMAT', rejection_info: info })).to.deep.equal([
      { ...template, status: 'rejected', toldAt, reason: 'INVALID_FORMAT: Side by side. Separate them.' },
    ]);
    const long = { reason: `${'x'.repeat(499)}🎉` };
    expect(await whatOf(STATUS, { event: 'REJECTED', rejection_info: long })).to.deep.equal([
      { ...template, status: 'rejected', toldAt, reason: 'x'.repeat(499) },
    ]);
    expect(await whatOf(STATUS, { event: 'APPROVED', reason: 'NONE' })).to.deep.equal([
      { ...template, status: 'approved', toldAt },
    ]);
    expect(await whatOf(STATUS, { event: 'DELETED', reason: null })).to.deep.equal([
      { ...template, status: 'deleted', toldAt },
    ]);
    for (const event of ['FLAGGED', 'LOCKED']) expect(await whatOf(STATUS, { event })).to.deep.equal([template]);
    expect(await whatOf(STATUS, { event: 'REINSTATED' })).to.deep.equal([{ ...template, toldAt }]);
    expect(await whatOf('message_template_quality_update', { new_quality_score: 'YELLOW' })).to.deep.equal([
      { ...template, quality: 'yellow' },
    ]);
    const moved = { previous_category: 'UTILITY', new_category: 'MARKETING' };
    expect(await whatOf('template_category_update', moved)).to.deep.equal([{ ...template, category: 'marketing' }]);
    expect(await whatOf('template_category_update', { new_category: 'UTILITY' })).to.deep.equal([template]);

    const foreign = await told(STATUS, { ...named, event: 'APPROVED' }, '2056');
    expect([foreign.items, foreign.ignored.foreign]).to.deep.equal([[], 1]);
    const nameless = await told(STATUS, { event: 'APPROVED' });
    expect([nameless.items, nameless.ignored.unreadable]).to.deep.equal([[], 1]);
  });

  it('takes no time that is none, or that would make every later change look old', async () => {
    const value = { event: 'PAUSED', message_template_name: 'cart', message_template_language: 'en_US' };
    const changes = [{ field: 'message_template_status_update', value }];
    const ahead = Math.floor(Date.now() / 1_000) + 3_600;

    for (const time of [undefined, null, '1763719190', 0, -1, 1.5, ahead, Date.now(), 1e300]) {
      const { items } = await readChange({ entry: [{ id: '2055', time, changes }] });
      expect(items.map(({ what }) => what)).to.deep.equal([
        { kind: 'template', business: '2055', name: 'cart', language: 'en_US', status: 'paused' },
      ]);
    }
  });

  it('changes of one post are due one after the other, in its order', async () => {
    const change = (event: string) => ({
      field: 'message_template_status_update',
      value: { event, message_template_name: 'cart', message_template_language: 'en_US' },
    });
    const changes = [change('APPROVED'), change('PAUSED'), change('DISABLED')];

    const { items } = await readChange({ entry: [{ id: '2055', time: TIME, changes }] });

    const [first = 0, ...later] = items.map(({ due }) => due?.getTime() ?? 0);
    expect(later).to.deep.equal([first + 1, first + 2]);
  });
});
