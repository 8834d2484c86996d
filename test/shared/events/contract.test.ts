import type { Schema } from '../../../gateway/http/fields/field.ts';
import { type AccountEventKind, accountBody } from '../../../shared/events/account-event.ts';
import {
  EVENTS,
  type EventChannel,
  type EventName,
  eventBody,
  eventsOf,
  MESSAGE_EVENT_NAMES,
  marketingEvent,
  stateOf,
  templateEvent,
  verificationEvent,
} from '../../../shared/events/catalogue.ts';
import type { AnyMessage, InboundSmsDocument } from '../../../shared/messages/document/any-message.ts';
import type {
  ChatMessageDocument,
  Fallback,
  InboundContent,
  InboundMessageDocument,
} from '../../../shared/messages/document/chat-message.ts';
import type { VerificationDocument } from '../../../shared/messages/document/verification.ts';
import { customerId, newId, testAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { contract, contractText, operations, pointer, schemaFault } from '../../support/openapi.ts';
import { makeMessage } from './webhooks/make.ts';

interface Hook {
  readonly post: {
    readonly summary: string;
    readonly requestBody: { readonly content: { readonly 'application/json': HookBody } };
  };
}
interface HookBody {
  readonly schema: { readonly $ref: string };
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
}

const { webhooks } = JSON.parse(contractText) as { readonly webhooks: Readonly<Record<string, Hook>> }; // the tests below check this
const AT = new Date('2026-11-21T04:30:01.987Z');
const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[]; // the catalogue's own keys

describe('the contract’s events are those of the catalogue', () => {
  it('a webhook of each, told in the same words', () => {
    const told = Object.entries(webhooks).map(([name, { post }]) => [name, post.summary]);

    expect(told).to.deep.equal(EVENT_NAMES.map((name) => [name, EVENTS[name].when]));
  });

  for (const name of EVENT_NAMES) {
    it(`${name}: its bodies are what the contract says, with every member that one may have`, () => {
      const { properties, required } = payloadOf(name);
      const bodies = EVENTS[name].channels.flatMap((channel) => bodiesOf(name, channel));

      for (const body of bodies) expect(schemaFault(schemaOf(name), body)).to.equal(undefined);
      const members = bodies.map((body) => Object.keys(body));
      expect(Object.keys(properties ?? {})).to.have.members([...new Set(members.flat())]);
      const always = Object.keys(properties ?? {}).filter((member) => members.every((has) => has.includes(member)));
      expect(required).to.have.members(always);
    });

    it(`${name}: its schema has a name, and its examples are such bodies`, () => {
      const { schema, examples } = bodyOf(name);

      expect(schema.$ref).to.match(/^#\/components\/schemas\/\w+Event$/);
      expect(Object.keys(examples)).not.to.be.empty;
      for (const { value } of Object.values(examples)) {
        expect(schemaFault(schemaOf(name), value)).to.equal(undefined);
        expect(Object.keys(Object(value)).filter((member) => !(member in (payloadOf(name).properties ?? {})))).to.be
          .empty;
      }
    });
  }

  it('GET /v2/events shows the members of all that are about messages, behind the id', () => {
    const members = MESSAGE_EVENT_NAMES.flatMap((name) => Object.keys(payloadOf(name).properties ?? {}));
    const { properties } = contract.components.schemas.Event ?? {};

    // Receipts as carriers wrote them go only to webhooks that ask for them.
    const shown = members.filter((member) => member !== 'raw');
    expect(Object.keys(properties ?? {})).to.have.members(['event_id', ...new Set(shown)]);
    expect(properties?.event?.enum).to.deep.equal(MESSAGE_EVENT_NAMES);
  });

  it('each list of events is one of these, so that none lacks a new one', () => {
    const lists = [...contractText.matchAll(/"enum": (\[[^\]]*"message\.sent"[^\]]*\])/g)].map(([, list = '']) => list);

    expect(lists).to.have.length.above(9);
    for (const list of lists) {
      expect([EVENT_NAMES, MESSAGE_EVENT_NAMES, eventsOf('chatapp')]).to.deep.include(JSON.parse(list));
    }
  });

  it('GET /v2/messages/{id} and GET /v2/status show every status that a history may have', () => {
    const { DeliveryStatus, ReachedStatus, Status, WholeMessage } = contract.components.schemas;

    expect(ReachedStatus?.enum).to.deep.equal([
      ...new Set([...(Status?.enum ?? []), ...MESSAGE_EVENT_NAMES.map(stateOf)]),
    ]);
    expect(WholeMessage?.properties?.webhooks?.items?.properties?.event?.enum).to.deep.equal(MESSAGE_EVENT_NAMES);
    for (const { properties } of [DeliveryStatus ?? {}, WholeMessage ?? {}]) {
      const { items } = properties?.timeline ?? {};
      expect(items?.properties?.status).to.deep.equal({ $ref: '#/components/schemas/ReachedStatus' });
    }
  });

  it('GET /v2/events filters by each of those, and a chat-app webhook registers for those of its channel', () => {
    const { parameters = [] } = operations.find(({ path }) => path === '/v2/events')?.operation ?? {};
    const filter = parameters.find((one) => 'name' in one && one.name === 'event');
    const { events } = contract.components.schemas.ChatappWebhookRequest?.properties ?? {};

    expect(filter).to.have.nested.property('schema.enum').that.deep.equals(MESSAGE_EVENT_NAMES);
    expect(events?.items?.enum).to.deep.equal(eventsOf('chatapp'));
  });
});

function bodyOf(name: EventName): HookBody {
  const hook = webhooks[name];
  if (hook === undefined) throw new Error(`the contract has no webhook ${name}`);
  return hook.post.requestBody.content['application/json'];
}

function payloadOf(name: EventName): Schema {
  return contract.components.schemas[bodyOf(name).schema.$ref.split('/').at(-1) ?? ''] ?? {};
}

function schemaOf(name: EventName): string {
  return pointer('webhooks', name, 'post', 'requestBody', 'content', 'application/json', 'schema');
}

/** Bodies of the event for a message with only the necessary fields, and for one with all. */
function bodiesOf(name: EventName, channel: EventChannel): object[] {
  const kind = EVENTS[name];
  // The account's webhooks get the events of both channels, and its own.
  if ('members' in kind && 'mayGet' in kind) return accountBodies(name, kind);
  if (channel === 'account') return [];
  if ('outcome' in kind) return templateBodies(kind.outcome, channel);
  if (name.startsWith('verification.')) return verificationBodies(name, channel);
  if (!('state' in kind))
    return (['stopped', 'resumed'] as const).filter((wish) => name.endsWith(wish)).map(marketingBodyOf);
  const { state } = kind;
  if (state === 'received' && channel === 'sms') {
    return receivedSms().map((message) => JSON.parse(eventBody({ message, entry: { state, at: AT } })) as object);
  }
  const bare = ['received', 'opted_out', 'opted_in'].includes(state)
    ? inbound()
    : channel === 'sms'
      ? makeMessage({})
      : { ...chatMessage(), ...(state === 'fallback' && { fallback: FELL_BACK }) };
  const full: AnyMessage = {
    ...bare,
    // Only tests have the member `test`; nobody opts out of tests.
    ...(!state.startsWith('opted_') && { account: testAccountOf(bare.account) }),
    reference: 'order 7',
    operator: 'Jio',
    deliveredAt: AT,
    errorCode: '69',
    errorReason: 'submit failed',
    ...('inbound' in bare && { inbound: PRESSED, replyTo: { message: newId('msg'), upstreamId: 'wamid.0' } }),
  };
  const customer = { id: customerId(full.account, '919876543210'), number: '919876543210' };
  return [bare, full].map((message, n) => {
    const known = n === 0 ? undefined : new Map([[message._id, customer]]);
    const raw = n === 1 && channel === 'sms' && ENDED.has(state) && { raw: RAW };
    return JSON.parse(eventBody({ message, entry: { state, at: AT, ...raw } }, known, n === 1)) as object;
  });
}

const ENDED: ReadonlySet<string> = new Set(['delivered', 'failed', 'expired', 'rejected']);
const RAW = {
  text: 'id:7f stat:UNDELIV',
  tlvs: {
    receiptedMessageId: '7f',
    messageState: 5,
    networkErrorCode: '03000c',
    others: [{ tag: '0x1403', value: '3430' }],
  },
};

function accountBodies(event: string, { members }: AccountEventKind): object[] {
  const examples = Object.entries(members).map(([member, { example }]) => [member, example] as const);
  const unknown = examples.map(([member, example]) => [member, members[member]?.nullable ? null : example] as const);
  return [examples, unknown].map((told) => {
    return JSON.parse(JSON.stringify(accountBody({ event, at: AT, told: Object.fromEntries(told) }))) as object;
  });
}

function templateBodies(outcome: 'approved' | 'rejected' | 'stopped', channel: 'sms' | 'chatapp'): object[] {
  const { account } = makeMessage({});
  const named: Readonly<Record<string, string>> =
    channel === 'sms'
      ? { template_id: '1107160000000012345', name: 'otp' }
      : { name: 'order_update', language: 'en_US', category: 'utility', business_id: '2055' };
  const status = outcome === 'stopped' ? 'paused' : outcome;
  return [{}, { reason: 'INVALID_FORMAT' }].map((more) => {
    const change = { account, channel, template: 'x', event: outcome, status, at: AT, named, ...more };
    return JSON.parse(templateEvent(change).body) as object;
  });
}

const FELL_BACK: Fallback = {
  afterSeconds: 60,
  sms: { sender: 'HARKRA', route: 'transactional', lane: 1, text: 'x', encoding: 'GSM7', segments: 1 },
  decided: { at: AT, because: 'failed' },
  ended: { kind: 'sent', message: newId('msg') },
};

function marketingBodyOf(wish: 'stopped' | 'resumed'): object {
  const { account } = makeMessage({});
  return JSON.parse(marketingEvent({ account, customer: '919876543210', wish, at: AT }).body) as object;
}

function verificationBodies(name: EventName, channel: 'sms' | 'chatapp'): object[] {
  const { account } = makeMessage({});
  const outcome = (['approved', 'failed', 'expired'] as const).filter((one) => name.endsWith(one));
  return outcome.flatMap((state) =>
    [{ account }, { account: testAccountOf(account), reference: 'sign-in 7' }].map((more) => {
      const verification: VerificationDocument = {
        ...{ _id: newId('vrf'), to: '919876543210', channel, message: newId('msg'), codeLength: 6, state },
        ...{ attempts: 1, maxAttempts: 5, expiresAt: AT, removeAt: AT, ...more },
      };
      return JSON.parse(verificationEvent({ verification, outcome: state, at: AT }).body) as object;
    }),
  );
}

/** A quick reply: the type whose members the contract names. */
const PRESSED: InboundContent = {
  type: 'button',
  body: 'Yes',
  more: {
    group_id: 'Y2FwaV9ncm91cDox',
    context: { from: '15550783881', id: 'wamid.0' },
    button: { payload: 'YES-42', text: 'Yes' },
  },
};

function chatMessage(): ChatMessageDocument {
  const { group: _, sender: _s, route: _r, text: _t, encoding: _e, segments: _n, ...common } = makeMessage({});
  return {
    ...common,
    channel: 'chatapp',
    direction: 'out',
    path: 'chatapp',
    lane: 0,
    from: '918000000001',
    conversation: 'cnv_01m7znjn7hdb5pft3awkb6pgvz',
    content: { kind: 'text', text: 'Hello' },
  };
}

/** A text, a text with a missing part, and binary data. */
function receivedSms(): InboundSmsDocument[] {
  const { upstreamId: _, ...common } = inbound();
  return [
    { type: 'text', body: 'Hello' },
    { type: 'text', body: 'Hel', more: { missing_parts: [2], total_parts: 2 } },
    { type: 'binary', body: 'AP8Q', more: { data_coding: 4 } },
  ].map((what) => ({
    ...{ ...common, channel: 'sms', from: '919876543210', to: '56161', carrier: 'acme', inbound: what },
    ...(what.body === 'Hello' ? {} : { optOut: 'near' }),
  }));
}

function inbound(): InboundMessageDocument {
  const { _id, day, account, v, tries, validUntil, history } = makeMessage({});
  return {
    ...{ _id, day, account, v, tries, validUntil, history },
    channel: 'chatapp',
    direction: 'in',
    state: 'received',
    to: '15550783881',
    from: '919876543210',
    upstreamId: 'wamid.1',
    inbound: { type: 'text', body: 'Hello' },
  };
}
