import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { isTestAccount } from '../../../shared/platform/runtime/ids.ts';
import { FileSlots } from '../../api/csv.ts';
import { done, endpoint, perProcess, refused } from '../../api/endpoint.ts';
import { success } from '../../api/shapes.ts';
import { boolean, required, withDefault } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { MessageId } from '../messages/shapes.ts';
import { postToProvider, providerPoster, readProviderAnswer } from '../providers/post-to-provider.ts';
import { findChatMessage } from './answered.ts';
import { messageId } from './fields.ts';

/** A typing indicator that comes later than this is of no use. */
const TIMEOUT_MS = 5_000;
/** Only while a provider hangs are there so many: a gateway's connections are for sends. */
const AT_ONCE = { account: 16, process: 64 };
const RETRY_AFTER = ['Retry-After', '5'] as const;

const asker = perProcess((deps) => ({ poster: providerPoster(deps, TIMEOUT_MS), slots: new FileSlots(AT_ONCE) }));

/** Goes to the provider at once, past the queue: it is no message, costs nothing, and to repeat it changes nothing. */
export const chatappRead = endpoint({
  id: 'chatappRead',
  call: 'chatapp.markRead',
  method: 'post',
  path: '/v2/chatapp/read',
  tag: 'Chat-app',
  summary: 'Mark a message as read',
  description:
    'Extension. The customer sees that the message, and all before it, were read; with `typing` also that an answer is being written, until it comes, for 25 seconds at most. It costs nothing and needs no open session. The provider is asked while you wait.',
  scopes: ['send'],
  test: 'apart',
  body: request({
    message_id: required(messageId('A message from a customer, as `message.received` named it.')),
    typing: withDefault(boolean('Show that an answer is being written.'), false),
  }),
  answer: success('ReadResult', { message_id: MessageId }),
  problems: [
    ...(['message_not_found', 'chatapp_not_configured', 'chatapp_stopped', 'not_marked_read'] as const),
    ...(['provider_unavailable', 'secret_unreadable'] as const),
  ],
  examples: { body: { typing: { message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz', typing: true } } },
  async handle(deps, { caller, body: { message_id: id, typing } }) {
    const { db } = deps;
    const account = caller.account._id;
    const message = await findChatMessage(db, account, id);
    if (message?.direction !== 'in') {
      return refused('message_not_found', { detail: 'The account received no chat-app message with this id.' });
    }
    if (isTestAccount(account)) return done({ message_id: id });
    const provider = await findProvider(db, message.number);
    if (provider?.account !== account) return refused('chatapp_not_configured');
    if (provider.stoppedReason !== undefined) return refused('chatapp_stopped', { headers: RETRY_AFTER });
    const { poster, slots } = asker(deps);
    const release = slots.take(account);
    if (typeof release === 'string') return refused('provider_unavailable', { headers: RETRY_AFTER });
    // "Mark messages as read" and "Typing indicators" of the Cloud API.
    const read = {
      ...{ messaging_product: 'whatsapp', status: 'read', message_id: message.upstreamId },
      ...(typing && { typing_indicator: { type: 'text' } }),
    };
    const answer = readProviderAnswer(await postToProvider(poster, deps, provider, read).finally(release));
    if (answer.ok) return done({ message_id: id });
    const { status = 503, words } = answer;
    if (status >= 500 || status === 429) return refused('provider_unavailable', { headers: RETRY_AFTER });
    return refused('not_marked_read', { detail: words });
  },
});
