import { createEndpoint } from '../../../../shared/events/webhooks/endpoint-store.ts';
import type { InboundMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { verificationsOf } from '../../../../shared/messages/document/verification.ts';
import { formatKey, newKeyText } from '../../../../shared/people/keys/key.ts';
import { createKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { inboundMessage } from '../../../../workers/chatapp/inbox.ts';
import { type ChatGateway, CUSTOMER } from '../../../support/chat-gateway.ts';
import { NUMBER, TEST_BOX } from '../../../support/chatapp.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeMessage } from '../../../support/make.ts';
import { signedIn } from '../../../support/signed-in.ts';

/** One kind of POST that takes an Idempotency-Key. */
export interface Post {
  readonly body: (thing: string) => object;
  /** A field that, added or changed, makes it a different request. Absent: the request has no body. */
  readonly other?: object;
  /** Default: a key of the account that may do everything. */
  readonly caller?: (chat: ChatGateway) => Promise<Readonly<Record<string, string>>>;
  /** Makes the thing in the path and returns its id. */
  readonly thing?: (chat: ChatGateway) => Promise<string>;
  /** An unused id for the result. Default: with the prefix of the first request's id. */
  readonly unused?: (account: AccountId) => string;
  /**
   * The answer to a repeat when the first process died after the work but before it noted the answer. Default: the
   * first answer. `renewed`: the first answer with these members made anew, because they are not stored. `again`: done
   * again, because nothing shows what was done and doing it twice has no effect.
   */
  readonly behind?: { readonly renewed: readonly string[] } | 'again';
}

const SMS = { message: 'Your code is 1234', sender: 'HARKRA' };
const HOUR_MS = 3_600_000;
const TEMPLATE_CSV = 'id,header,content\n1107160000000012345,HARKRA,Bye {#var#}\n';
const newSealedKey = (account: AccountId) =>
  TEST_BOX.seal(formatKey(newKeyText(Date.now())), ['idempotency', account, 'result']);

/** POSTs that take the key, by route. */
export const POSTS: Readonly<Record<string, Post>> = {
  '/v2/send': { body: () => ({ ...SMS, to: CUSTOMER }), other: { message: 'another' } },
  '/v2/send-bulk': { body: () => ({ ...SMS, to: [CUSTOMER, '919876543211'] }), other: { message: 'another' } },
  '/v2/messages/:message_id/resend': {
    thing: async ({ db, account }) => {
      const message = makeMessage({ account, state: 'delivered', history: [{ state: 'delivered', at: new Date() }] });
      await db.collection<MessageDocument>('messages').insertOne(message);
      return message._id;
    },
    body: () => ({}),
  },
  '/v2/verify': {
    caller: withOtp,
    body: () => ({ to: CUSTOMER, sender: 'HARKRA', message: 'Your code is {code}' }),
    other: { message: 'Another {code}' },
  },
  '/v2/verify/check': {
    caller: withOtp,
    thing: async ({ db, account }) => {
      const [_id, soon] = [newId('vrf'), new Date(Date.now() + HOUR_MS)];
      await verificationsOf(db).insertOne({
        ...{ _id, account, to: CUSTOMER, channel: 'sms', message: newId('msg'), state: 'pending' },
        ...{ codeHash: TEST_BOX.hash('4711', _id), codeLength: 4, attempts: 0, maxAttempts: 3 },
        ...{ expiresAt: soon, removeAt: soon },
      });
      return _id;
    },
    body: (verification) => ({ verification_id: verification, code: '4711' }),
    other: { code: '4712' },
  },
  '/v2/schedule': {
    body: () => ({ ...SMS, to: CUSTOMER, schedule_time: new Date(Date.now() + HOUR_MS).toISOString() }),
    other: { message: 'another' },
  },
  '/v2/chatapp/send': {
    body: () => ({ to: CUSTOMER, template: 'order_update', language: 'en_US', params: ['Asha', '7'] }),
    other: { params: ['Asha', '8'] },
  },
  '/v2/chatapp/send-text': { body: () => ({ to: CUSTOMER, message: 'On its way' }), other: { message: 'another' } },
  '/v2/chatapp/send-media': {
    body: () => ({ to: CUSTOMER, type: 'image', url: 'https://example.com/a.png' }),
    other: { url: 'https://example.com/b.png' },
  },
  '/v2/chatapp/send-buttons': {
    body: () => ({ to: CUSTOMER, body: 'Shall we come?', buttons: [{ id: 'yes', title: 'Yes' }] }),
    other: { body: 'Shall we go?' },
  },
  '/v2/chatapp/send-interactive': {
    body: () => ({ to: CUSTOMER, type: 'location_request', body: 'Where shall we come?' }),
    other: { body: 'Where are you?' },
  },
  '/v2/chatapp/send-location': {
    body: () => ({ to: CUSTOMER, latitude: 12.9758, longitude: 77.6045 }),
    other: { latitude: 13 },
  },
  '/v2/chatapp/send-contacts': {
    body: () => ({
      to: CUSTOMER,
      contacts: [{ name: { first_name: 'Ravi' }, phones: [{ phone: '+91 98765 00001' }] }],
    }),
    other: { contacts: [{ name: { first_name: 'Asha' }, phones: [{ phone: '+91 98765 00002' }] }] },
  },
  '/v2/chatapp/send-reaction': {
    thing: async ({ db, account }) => {
      const at = new Date();
      const upstreamId = `wamid.${newId('msg')}`;
      const said = { number: NUMBER, upstreamId, from: CUSTOMER, sentAt: at, type: 'text', body: 'Hi' };
      const message = inboundMessage(account, { kind: 'message', ...said }, at);
      await db.collection<InboundMessageDocument>('messages').insertOne(message);
      return message._id;
    },
    body: (message) => ({ to: CUSTOMER, message_id: message, emoji: '👍' }),
    other: { emoji: '🙏' },
  },
  '/v2/chatapp/test-received': {
    caller: async ({ db, account }) => {
      const { key } = await createKey(db, systemClock, { account, test: true, name: 'ci', scopes: ['send'] });
      return { Authorization: `Bearer ${key}` };
    },
    body: () => ({ from: CUSTOMER, body: 'Where is my order?' }),
    other: { body: 'Where is it?' },
  },
  '/v2/chatapp/webhook': {
    body: () => ({ url: 'https://example.com/events', events: ['message.received'] }),
    other: { events: ['message.read'] },
  },
  '/v2/account/opt-outs': { body: () => ({ customer: CUSTOMER }), other: { customer: '919876543211' } },
  '/v2/account/keys': {
    body: () => ({ name: 'Shop', scopes: ['send'] }),
    other: { scopes: ['read'] },
    unused: newSealedKey,
  },
  '/v2/account/keys/:key_id/rotate': {
    thing: async ({ db, account }) =>
      (await createKey(db, systemClock, { account, name: 'Shop', scopes: ['send'] })).id,
    body: () => ({ old_expires_at: new Date(Date.now() + HOUR_MS).toISOString() }),
    other: { old_expires_at: new Date(Date.now() + 2 * HOUR_MS).toISOString() },
    unused: newSealedKey,
  },
  '/v2/account/webhooks': {
    body: () => ({ channel: 'sms', url: 'https://example.com/sms', events: ['message.sent'] }),
    other: { events: ['message.failed'] },
  },
  '/v2/account/webhooks/:webhook_id/rotate': {
    thing: makeWebhook,
    body: () => ({}),
    // This POST has no fields, but an unknown one makes it a different request too.
    other: { another: true },
  },
  '/v2/account/webhooks/:webhook_id/replays': {
    thing: makeWebhook,
    body: () => ({ since: new Date(Date.now() - HOUR_MS).toISOString() }),
    other: { since: new Date(Date.now() - 2 * HOUR_MS).toISOString() },
  },
  '/v2/account/senders': {
    body: () => ({ sender: 'ASHA', routes: ['transactional'] }),
    other: { routes: ['promotional'] },
  },
  '/v2/account/ctas': { body: () => ({ value: 'https://acme.in/offers' }), other: { value: '1800 123 4567' } },
  '/v2/account/ctas/import': {
    body: () => ({ csv: 'value\nacme.in\n' }),
    other: { csv: 'value\nacme.in\n9876543210\n' },
    behind: 'again',
  },
  '/v2/account/templates': {
    body: () => ({ name: 'Bye', senders: ['HARKRA'], category: 'service_implicit', content: 'Bye {#var#}' }),
    other: { content: 'Farewell {#var#}' },
  },
  '/v2/account/templates/import': {
    body: () => ({ file: [Buffer.from(TEMPLATE_CSV).toString('base64')] }),
    other: { skip_bad: true },
    behind: 'again',
  },
  '/v2/account/chatapp/templates': {
    body: () => ({ name: 'bye', language: 'en', category: 'utility', body: 'Bye, until tomorrow.' }),
    other: { body: 'Farewell.' },
  },
  '/v2/account/exports': {
    body: () => ({ state: 'failed' }),
    other: { state: 'sent' },
    behind: { renewed: ['state', 'progress'] },
  },
  '/v2/account/erasures': { body: () => ({ number: CUSTOMER }), other: { number: '919876543211' } },
  '/v2/account/users': {
    caller: async ({ db, account }) => (await signedIn(db, 'owner', account)).headers,
    body: () => ({ username: `${newId('usr')}@example.com`, role: 'viewer' }),
    other: { role: 'owner' },
    behind: { renewed: ['link', 'link_expires_at'] },
  },
  '/v2/admin/accounts': {
    caller: async ({ db }) => ({ Authorization: `Bearer ${await makeKey(db, undefined, ['admin:support'])}` }),
    body: () => ({ name: 'Shop' }),
    other: { name: 'Another' },
  },
  '/v2/admin/erasures': {
    caller: async ({ db }) => ({ Authorization: `Bearer ${await makeKey(db, undefined, ['admin:support'])}` }),
    body: () => ({ number: CUSTOMER }),
    other: { number: '919876543211' },
  },
};

async function withOtp({ db, account }: ChatGateway): Promise<Readonly<Record<string, string>>> {
  return { Authorization: `Bearer ${await makeKey(db, account, ['send', 'otp'])}` };
}

async function makeWebhook({ db, account }: ChatGateway): Promise<string> {
  const url = 'https://example.com/sms';
  const wanted = { account, channel: 'sms', url, events: ['message.sent'] } as const;
  return (await createEndpoint(db, systemClock, TEST_BOX, wanted)).endpoint._id;
}

/** POSTs without an account's Idempotency-Key, by the reason why none is needed. */
export const WITHOUT_KEY: Readonly<Record<string, readonly string[]>> = {
  'a provider or a carrier asks it: it has no key of an account, and repeats ids of its own': [
    '/carriers/callback/:callback',
    '/chatapp/callback/:callback',
  ],
  'it looks, tries or proposes: once more changes nothing': [
    '/v2/account/templates/check',
    '/v2/account/webhooks/:webhook_id/test',
    '/v2/session/confirm',
    '/v2/session/link',
    '/v2/profile/second-factor',
    '/v2/admin/carriers/test',
  ],
  'it sends one message to the number of whoever tries, who sees it come': ['/v2/admin/providers/:number/test'],
  'it says which state there shall be, and that is there already': [
    '/v2/chatapp/read',
    '/v2/admin/accounts/:account_id/status',
    '/v2/admin/accounts/:account_id/opt-ins',
    '/v2/admin/accounts/:account_id/senders/:sender/decision',
    '/v2/admin/accounts/:account_id/ctas/:cta_id/decision',
    '/v2/admin/accounts/:account_id/ctas/import',
    '/v2/admin/accounts/:account_id/templates/:template_id/decision',
    '/v2/account/traffic-holds/:prefix/release',
    '/v2/admin/accounts/:account_id/traffic-holds/:prefix/release',
    '/v2/admin/carriers/:carrier_id/status',
    '/v2/admin/providers/:number/status',
    '/v2/admin/providers/:number/default',
    '/v2/admin/users/:user_id/status',
  ],
  'the first one used up what it needs, or made what there can be one of: the second is refused, with the reason': [
    '/v2/admin/accounts/:account_id/close',
    '/v2/admin/accounts/:account_id/senders',
    '/v2/admin/accounts/:account_id/ctas',
    '/v2/admin/carriers',
    '/v2/admin/numbers',
    '/v2/admin/users',
    '/v2/session/link/password',
    '/v2/profile/password',
    '/v2/profile/second-factor/confirm',
    '/v2/profile/second-factor/remove',
  ],
  'what it makes replaces what it made before': [
    '/v2/account/users/:user_id/link',
    '/v2/admin/users/:user_id/link',
    '/v2/profile/recovery-codes',
  ],
  'each one signs in anew; a session that nobody got the cookie of ends by itself': ['/v2/session'],
  'a post that waits is refused; a receiver knows an event that it has by its id': [
    '/v2/account/webhooks/:webhook_id/deliveries/:event_id/replay',
  ],
  'its Idempotency-Key is the id of the credit itself: test/gateway/endpoints/accounts/accounts.test.ts': [
    '/v2/admin/accounts/:account_id/credits',
  ],
};
