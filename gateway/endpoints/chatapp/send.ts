import assert from 'node:assert/strict';
import type { ChatDraft } from '../../../shared/conversations/draft.ts';
import { wouldOpen } from '../../../shared/conversations/open.ts';
import type { ChatContent, ChatMessageDocument } from '../../../shared/messages/chat-message.ts';
import type { ProviderDocument } from '../../../shared/providers/provider.ts';
import { findProvider } from '../../../shared/providers/store.ts';
import { FreshCache } from '../../../shared/runtime/fresh-cache.ts';
import { type AccountId, type MessageId, newId } from '../../../shared/runtime/ids.ts';
import type { Reading } from '../../fields/field.ts';
import { invalidUrlRequest } from '../../fields/public-url.ts';
import { type ReadRequest, whole } from '../../fields/request.ts';
import { bodyOf, callerOf, type JsonObject } from '../../http/context.ts';
import type { Action, Refused, Verdict } from '../../idempotency/action.ts';
import { notAccepted } from '../../idempotency/not-accepted.ts';
import { explainCode } from '../../messages/explain/explain.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { endChatAttempt } from './end-attempt.ts';
import type { ChatFields } from './fields.ts';
import { findAcceptedChat } from './find-accepted.ts';
import { chatRefusal } from './refusal.ts';

/**
 * What is special about one of the four sends: its fields, its content and its answer. Everything else is common to
 * all four.
 */
export interface ChatSend {
  /** Name of the action. Stored with idempotency keys, so it must not change (idempotency/action.ts). */
  readonly name: string;
  /** Reads the request and decides what to send. */
  order(asked: ChatRequest): Promise<ChatOrder>;
  /** The answer's members, as the specification lists them. */
  result(message: AcceptedChat): object;
}

export interface ChatRequest {
  readonly account: AccountId;
  readonly body: JsonObject;
  /** The context in which its fields are read. */
  readonly context: Omit<Reading, 'problems'>;
  /** Undefined when the account has none. Such requests are refused later. */
  readonly provider: ProviderDocument | undefined;
}

export interface ChatOrder {
  /** The request's values and problems. All sends use the common fields in the same way. */
  readonly read: ReadRequest<ChatFields>;
  /** Undefined only when there are problems or the request is refused. */
  readonly content: ChatContent | undefined;
  /** Why a well-formed request is not allowed. Answered only when there are no problems. */
  readonly refused?: Refused;
  /** Checks that ask another server and may be slow. Called last, if nothing else refuses the request. */
  askNetwork?(): Promise<void>;
}

type AcceptedChat = Pick<ChatMessageDocument, '_id' | 'conversation'>;

const REMEMBERED_PROVIDERS = 20_000;

/**
 * Makes the sends of the chat-app channel. A refused request is neither stored nor charged.
 * shared/conversations/open.ts decides who pays for what. The account's provider is read at most once per
 * 4 s.
 */
export function createChatSend(deps: GatewayDeps): (send: ChatSend) => Action<MessageId> {
  const { chatAccepter, clock, config, db } = deps;
  const prices = { userCredits: config.chatUserCredits, businessCredits: config.chatBusinessCredits };
  const providers = new FreshCache<AccountId, ProviderDocument>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_PROVIDERS,
    clock,
    read: (account) => findProvider(db, account),
  });

  return ({ name, order: readOrder, result }) => ({
    name,
    newId: () => newId('msg', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const [caller, body] = [callerOf(res).account, bodyOf(res)];
      const account = caller._id;
      const provider = await providers.get(account);
      const context = { account: caller, now: clock.now(), config };
      const order = await readOrder({ account, body, context, provider });
      const { given, problems } = order.read;
      if (given.to !== undefined && given.to === provider?.displayNumber) {
        problems.add('to', 'invalid_value', 'It is the number of the business itself.');
      }
      if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
      const refused = refusedByProvider(provider) ?? order.refused;
      if (refused !== undefined) return refused;

      const { content } = order;
      assert(content !== undefined, 'there is no content and no problem');
      const { to, reference, valid_until: validUntil, dry_run: dry } = whole(order.read);
      const draft: ChatDraft = { _id: id, to, content, validUntil, ...(reference === undefined ? {} : { reference }) };
      if (order.askNetwork !== undefined) {
        const early = await dryRun(account, draft);
        if (early.kind === 'refused') return early;
        await order.askNetwork();
        if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
      }
      if (dry) return dryRun(account, draft);
      res.locals.messageId = id;
      const outcome = await chatAccepter.accept(account, draft, payBy);
      if (outcome.kind === 'accepted') {
        return { kind: 'accepted', body: result({ _id: id, conversation: outcome.conversation }) };
      }
      return notAccepted(outcome, (shown) => chatRefusal(shown, id));
    },
    end: (account, id, payBy) => endChatAttempt(db, account, id, payBy),
    async recover(account, id) {
      const message = await findAcceptedChat(db, account, id);
      return message === undefined ? undefined : { kind: 'accepted', body: result(message) };
    },
  });

  async function dryRun(account: AccountId, draft: ChatDraft): Promise<Verdict> {
    const outcome = await wouldOpen(db, account, draft, clock.now(), prices);
    if (outcome.kind !== 'would_accept') return { kind: 'refused', problem: chatRefusal(outcome, draft._id) };
    const credits = { credits_used: 0, credits_required: outcome.credits };
    return { kind: 'dry_run', body: { status: 'success', dry_run: true, ...credits } };
  }
}

function refusedByProvider(provider: ProviderDocument | undefined): Refused | undefined {
  if (provider === undefined) return { kind: 'refused', problem: ['chatapp_not_configured', {}] };
  // A paused provider keeps messages waiting. A stopped one would let them wait until they expire, so they are
  // refused.
  const { stoppedReason } = provider;
  if (stoppedReason === undefined) return undefined;
  const detail = stoppedDetail(stoppedReason);
  return { kind: 'refused', problem: ['chatapp_stopped', { ...(detail && { detail }), headers: STOPPED_RETRY_AFTER }] };
}

/** The cause in our words. The provider's own, behind our code, may quote settings: they are for operators. */
function stoppedDetail(stoppedReason: string): string | undefined {
  const [code = ''] = stoppedReason.split(':', 1);
  const known = explainCode(code);
  return (
    known &&
    `Nothing was done. ${known.cause} ${known.advice} Sends go on when your service provider resumes the channel.`
  );
}

/** Seconds. It is long, because a person has to correct the provider's settings first. */
const STOPPED_RETRY_AFTER = ['Retry-After', '60'] as const;
