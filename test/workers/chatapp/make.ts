import { type InboxItemDocument, itemId, type StatusItem } from '../../../shared/messages/chat-inbox.ts';
import { CHAT_LANE, CHAT_PATH, type ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { type AccountId, idDay, newId } from '../../../shared/platform/runtime/ids.ts';
import { NUMBER } from '../../support/chatapp.ts';

const DAY_MS = 86_400_000;

/** A queued text to a customer. */
export function makeChatMessage(overrides: Partial<ChatMessageDocument> = {}): ChatMessageDocument {
  const validUntil = new Date(Date.now() + 2 * DAY_MS);
  const _id = overrides._id ?? newId('msg');
  return {
    _id,
    day: idDay(_id),
    channel: 'chatapp',
    direction: 'out',
    account: newId('acc'),
    from: NUMBER,
    to: '919999999999',
    conversation: newId('cnv'),
    path: CHAT_PATH,
    lane: CHAT_LANE,
    content: { kind: 'text', text: 'hello' },
    state: 'queued',
    v: 0,
    tries: 0,
    due: validUntil,
    validUntil,
    history: [],
    ...overrides,
  };
}

export function makeStatus(overrides: Partial<StatusItem> = {}): StatusItem {
  return { kind: 'status', upstreamId: 'wamid.1', status: 'delivered', at: new Date(), ...overrides };
}

let told = 0;

/** As the callback stores it, due now. */
export function makeItem(account: AccountId, what: InboxItemDocument['what'], at = new Date()): InboxItemDocument {
  return {
    _id: idOf(account, what),
    account,
    at,
    due: at,
    tries: 0,
    what,
    weight: 500,
  };
}

function idOf(account: AccountId, what: InboxItemDocument['what']): string {
  if (what.kind === 'template' || what.kind === 'preference') return itemId(account, what.kind, String(++told));
  return itemId(account, what.kind === 'message' ? 'in' : what.status, what.upstreamId);
}
