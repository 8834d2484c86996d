import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { z } from 'zod';
import { endsByItself } from '../../../shared/carriers/providers/graph-error.ts';
import { chatMessageKey, type ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { countryOf } from '../../../shared/carriers/routing/country.ts';
import type {
  Answered,
  BusinessNumber,
  ChatContent,
  ChatMessageDocument,
  InboundMessageDocument,
} from '../../../shared/messages/document/chat-message.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import type { ChatAcceptOutcome, ChatDraft } from '../../../shared/money/conversations/decide.ts';
import { endChatAttempt, findAcceptedChat } from '../../../shared/money/conversations/include.ts';
import { wouldOpen } from '../../../shared/money/conversations/open.ts';
import { readPerson } from '../../../shared/money/conversations/person.ts';
import { keysOf } from '../../../shared/money/ledger/spending.ts';
import { wouldRefuse } from '../../../shared/money/payment/debit.ts';
import { isoDate, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import {
  type AccountId,
  isTestAccount,
  liveAccountOf,
  type MessageId,
  type VerificationId,
} from '../../../shared/platform/runtime/ids.ts';
import { type Call, type Gateway, type OnceAction, refused, type Shown } from '../../api/endpoint.ts';
import { id, named, success, whole } from '../../api/shapes.ts';
import type { ProblemAnswer } from '../../http/answer.ts';
import type { Caller } from '../../http/context.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import type { Fields } from '../../http/fields/field.ts';
import { invalidUrlRequest } from '../../http/fields/public-url.ts';
import { type ReadRequest, whole as wholeOf } from '../../http/fields/request.ts';
import { notAccepted, type Refused } from '../../http/idempotency/action.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { PROBLEMS, type ProblemSlug } from '../../http/problem.ts';
import {
  type AroundPayment,
  beyondLimits,
  type PlaceOf,
  RECIPIENT_LIMITS,
  tooManyNow,
  withinRecipientLimit,
} from '../limits/recipients.ts';
import { explainCode } from '../messages/explain/explain.ts';
import { FALLBACK_REFUSALS, FallbackDryRun, fallbackDryRun, orderFallback } from './fallback.ts';
import type { ChatFields } from './fields.ts';
import { noSuchNumber, numberFor, numbersOf, TEST_NUMBER } from './numbers.ts';

/** What the sends of the chat-app channel have in common. A refused request is neither stored nor charged. */

export const ChatResult = success('ChatResult', 'A message on the chat-app channel was accepted.', {
  message_id: id('msg', 'Id of the message.', 'msg_01m7znjn7hdb5pft3awkb6pgvz'),
});

export const ChatDryRun = named('ChatDryRun', 'The answer to `dry_run`.', {
  status: z.literal('success'),
  dry_run: z.literal(true),
  credits_used: z.literal(0),
  credits_required: whole(
    'What the same request without `dry_run` would cost: 0 in a conversation that is paid already.',
    { minimum: 0, example: 2 },
  ),
  fallback: FallbackDryRun.optional(),
});

/** `result`: the name of the answer to a real send. */
export function answerOr<Shape extends z.ZodType>(name: string, result: string, shape: Shape) {
  const description = `\`${result}\`, or \`ChatDryRun\` to a request with \`dry_run\`: it alone has the member \`dry_run\`.`;
  return z.union([shape, ChatDryRun]).meta({ id: name, description });
}

export const DRY_RUN_EXAMPLE = { status: 'success', dry_run: true, credits_used: 0, credits_required: 2 };

export const REFUSALS = [
  'chatapp_not_configured',
  'insufficient_credits',
  'account_suspended',
  'credits_expired',
  'chatapp_stopped',
  'spend_limit_reached',
  'conversation_limit_reached',
  ...RECIPIENT_LIMITS,
  ...FALLBACK_REFUSALS,
  'outcome_unknown',
] as const satisfies readonly ProblemSlug[];

export type Asked<Body extends Fields> = Pick<Call<Fields, Body>, 'caller' | 'read' | 'json' | 'told'>;

interface ChatSend<Body extends Fields> {
  /** Allowed outside a session too. */
  readonly anytime?: true;
  /**
   * Decides what to send. `provider`: of the number that the message leaves from; undefined when the account has none,
   * or not the requested one: refused later. `number`: its digits; test keys have one without a provider.
   */
  order(
    asked: Asked<Body>,
    provider: ProviderDocument | undefined,
    number: BusinessNumber | undefined,
  ): Promise<ChatOrder> | ChatOrder;
  /** The answer's members in the specification's order. */
  result(message: Pick<ChatMessageDocument, '_id' | 'conversation'>): object;
}

/** For a message with a verification's code: whose it is, and what is done around its payment. */
export interface CodeSend {
  readonly verification: VerificationId;
  readonly around: AroundPayment;
}

export interface ChatOrder {
  /** Undefined only when there are problems or the request is refused. */
  readonly content: ChatContent | undefined;
  readonly replyTo?: MessageId | undefined;
  /** Why a well-formed request is refused. Answered only when there are no problems. */
  readonly refused?: Refused;
  /** Checks that ask another server and may be slow. Called last, if nothing else refuses the request. */
  askNetwork?(): Promise<void>;
}

interface ChatSendAction<Body extends Fields> extends OnceAction<MessageId, Asked<Body>> {
  /** All checks of a send, and whether the account could pay now. Stores and charges nothing. */
  foresee(asked: Asked<Body>, id: MessageId): Promise<Refused | Foreseen>;
}

interface Foreseen {
  readonly kind: 'foreseen';
  readonly draft: ChatDraft;
  readonly credits: number;
}

/** shared/money/conversations/open.ts decides who pays for what. */
export function chatSend<Body extends Fields & ChatFields>(
  deps: Gateway,
  { order: orderOf, result, anytime }: ChatSend<Body>,
  { verification, around }: Partial<CodeSend> = {},
): ChatSendAction<Body> {
  const { chatAccepter, clock, config, db } = deps;
  const numbers = numbersOf(deps);
  const prices = { userCredits: config.chatUserCredits, businessCredits: config.chatBusinessCredits, countryOf };
  return {
    async act(asked, { id, payBy }) {
      const checked = await check(asked, id);
      if (checked.kind === 'refused') return checked;
      const { draft, dry } = checked;
      const { caller } = asked;
      if (dry) {
        const foreseen = await price(caller, draft);
        return foreseen.kind === 'refused' ? foreseen : { kind: 'dry_run', body: chatDryRun(foreseen) };
      }
      asked.told.messageId = id;
      const pay = () => chatAccepter.accept(caller.account._id, draft, payBy, caller.caps);
      const outcome = await withinRecipientLimit(deps, caller.account, [draft.to], TO, () =>
        around === undefined ? pay() : around(pay),
      );
      if (outcome.kind === 'refused') return outcome;
      if (outcome.kind === 'accepted') {
        return { kind: 'accepted', body: result({ _id: id, conversation: outcome.conversation }) };
      }
      return notAccepted(outcome, (shown) => chatRefusal(shown, id));
    },
    async foresee(asked, id) {
      const checked = await check(asked, id);
      return checked.kind === 'refused' ? checked : price(asked.caller, checked.draft);
    },
    end: (account, id, payBy) => endChatAttempt(db, account, id, payBy),
    async recover(account, id) {
      const message = await findAcceptedChat(db, account, id);
      return message === undefined ? undefined : { kind: 'accepted', body: result(message) };
    },
  };

  async function check(
    asked: Asked<Body>,
    id: MessageId,
  ): Promise<Refused | { readonly kind: 'checked'; readonly draft: ChatDraft; readonly dry: boolean }> {
    const { caller } = asked;
    const account = caller.account._id;
    const own = (await numbers.get(liveAccountOf(account))) ?? [];
    // All sends have the common fields.
    const read: ReadRequest<ChatFields> = asked.read;
    const { from, to: recipient } = read.given;
    const isTest = isTestAccount(account);
    const provider = await numberFor(db, account, own, { from, to: recipient, inSession: anytime === undefined });
    // Tests need no number.
    const number = provider?._id ?? (isTest && own.length === 0 ? TEST_NUMBER : undefined);
    const order = await orderOf(asked, provider, number);
    const { given, problems } = read;
    if (number === undefined && own.length > 0) problems.add('from', 'invalid_value', noSuchNumber(own));
    if (given.to !== undefined && given.to === number) {
      problems.add('to', 'invalid_value', 'It is the number of the business itself.');
    }
    const replyTo =
      given.to === undefined || order.replyTo === undefined || number === undefined
        ? undefined
        : await findAnswered(db, account, given.to, number, 'reply_to', order.replyTo, problems);
    const instead = await orderFallback(deps, caller, read);
    if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
    // No provider gets a test message.
    const stopped = isTest ? undefined : refusedByProvider(provider);
    const why = stopped ?? order.refused ?? (instead?.kind === 'refused' ? instead : undefined);
    if (why !== undefined) return why;
    const recipients = given.to === undefined ? [] : [given.to];
    const beyond = await beyondLimits(caller.account, recipients, TO);
    if (beyond !== undefined) return { kind: 'refused', problem: beyond };

    const { content } = order;
    assert(content !== undefined && number !== undefined, 'there is content and a number, or a problem');
    const { to, reference, valid_until: validUntil, dry_run: dry } = wholeOf(read);
    const fallback = instead?.kind === 'fallback' ? instead.fallback : undefined;
    const more = defined({ replyTo, reference, fallback, verification });
    const draft: ChatDraft = { _id: id, from: number, to, content, validUntil, ...more, ...keysOf(caller.caps) };
    if (order.askNetwork !== undefined || fallback !== undefined) {
      // Nothing is reserved for a fallback, but the request is refused if the account could not pay for it now.
      const early = await price(caller, draft);
      if (early.kind === 'refused') return early;
      await order.askNetwork?.();
      if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
    }
    return { kind: 'checked', draft, dry };
  }

  /** The price now; a refusal if the account could not pay or a limit forbids it. */
  async function price({ account, caps }: Caller, draft: ChatDraft): Promise<Refused | Foreseen> {
    const over = await tooManyNow(deps, account, [draft.to], TO);
    if (over !== undefined) return { kind: 'refused', problem: over };
    const outcome = await wouldOpen(db, account._id, draft, clock.now(), prices, caps);
    if (outcome.kind !== 'would_accept') return { kind: 'refused', problem: chatRefusal(outcome, draft._id) };
    const { fallback } = draft;
    const both = fallback && outcome.credits + creditsOf(fallback.sms);
    const short = both && (await wouldRefuse(db, account._id, both, isoDate(clock.now()), caps));
    if (short) return { kind: 'refused', problem: refusal(short, draft._id) };
    return { kind: 'foreseen', draft, credits: outcome.credits };
  }
}

const TO: PlaceOf = () => 'to';

function chatDryRun({ draft: { fallback }, credits }: Foreseen): Shown<typeof ChatDryRun> {
  const instead = fallback && { fallback: fallbackDryRun(fallback) };
  return { status: 'success', dry_run: true, credits_used: 0, credits_required: credits, ...instead };
}

function refusedByProvider(provider: ProviderDocument | undefined): Refused | undefined {
  if (provider === undefined) return refused('chatapp_not_configured');
  // A paused provider keeps messages waiting; with a stopped one they would expire, so they are refused.
  const { stoppedReason } = provider;
  if (stoppedReason === undefined) return undefined;
  const detail = stoppedDetail(stoppedReason);
  return refused('chatapp_stopped', { ...(detail && { detail }), headers: STOPPED_RETRY_AFTER });
}

/** The cause in our words. The provider's own text after our code may quote settings, which are for operators. */
function stoppedDetail(stoppedReason: string): string | undefined {
  const [code = ''] = stoppedReason.split(':', 1);
  const known = explainCode(code);
  return (
    known &&
    `Nothing was done. ${known.cause} ${known.advice} Sends go on ${endsByItself(code) ? 'by themselves when that is solved' : 'when your service provider resumes the channel'}.`
  );
}

/** Seconds. Long, because a person has to correct the provider's settings first. */
const STOPPED_RETRY_AFTER = ['Retry-After', '60'] as const;

type NotAccepted = Exclude<ChatAcceptOutcome, { readonly kind: 'accepted' }>;

/** The problem when a message was not accepted, or nobody knows whether it was. */
function chatRefusal(outcome: NotAccepted, id: MessageId): readonly [ProblemSlug, ProblemAnswer] {
  if (outcome.kind === 'conversation_limit_reached') {
    const detail = `The account may send ${outcome.most} messages in a conversation, and this one has them. ${PROBLEMS.conversation_limit_reached.advice}`;
    return [outcome.kind, { detail, extra: { limit: 'conversation', most: outcome.most } }];
  }
  if (outcome.kind !== 'session_closed') return refusal(outcome, id);
  const { closedAt } = outcome;
  const detail =
    closedAt === undefined
      ? 'The customer has not written yet. Until then only templates may be sent.'
      : `The session closed at ${isoTimestamp(closedAt)}, 24 hours after the customer wrote last. Only templates may be sent.`;
  return [
    outcome.kind,
    { detail, extra: { session_closed_at: closedAt === undefined ? null : isoTimestamp(closedAt) } },
  ];
}

type Found =
  | Pick<InboundMessageDocument, 'direction' | 'to' | 'from' | 'upstreamId'>
  | Pick<ChatMessageDocument, 'direction' | 'to' | 'from' | 'parts'>;

/**
 * The message between this customer and number that a request's `field` refers to. Undefined, with a problem, when
 * there is none or the provider does not have it yet. One read, and one more if it has another name of the same person.
 */
export async function findAnswered(
  db: Db,
  account: AccountId,
  to: string,
  number: BusinessNumber,
  field: string,
  message: MessageId,
  problems: FieldProblems,
): Promise<Answered | undefined> {
  const found = await findChatMessage(db, account, message);
  if (found === undefined || found.number !== number || !(await isWith(db, account, found, to))) {
    problems.add(
      field,
      'invalid_value',
      `The account has no chat-app message with this id between \`to\` and its number ${number}.`,
    );
    return undefined;
  }
  const { upstreamId } = found;
  if (upstreamId === undefined) problems.add(field, 'invalid_value', 'The provider has not taken this message yet.');
  return upstreamId === undefined ? undefined : { message, upstreamId };
}

/** `customer`: null if the provider named nobody. `upstreamId`: undefined until the provider has accepted it. */
interface ChatMessage {
  readonly direction: 'in' | 'out';
  readonly number: BusinessNumber;
  readonly customer: string | null;
  readonly upstreamId: string | undefined;
}

export async function findChatMessage(db: Db, account: AccountId, _id: MessageId): Promise<ChatMessage | undefined> {
  const found = await db
    .collection<InboundMessageDocument | ChatMessageDocument>('messages')
    .findOne<Found>(
      { _id, account, channel: 'chatapp' },
      { projection: { direction: 1, to: 1, from: 1, upstreamId: 1, 'parts.key': 1 } },
    );
  if (found === null) return undefined;
  if (found.direction === 'in') {
    return { direction: 'in', number: found.to, customer: found.from, upstreamId: found.upstreamId };
  }
  const { to, from } = found;
  const key = found.parts?.find((part) => part.key !== undefined)?.key;
  return { direction: 'out', number: from, customer: to, upstreamId: key?.slice(chatMessageKey(account, '').length) };
}

async function isWith(db: Db, account: AccountId, { customer }: ChatMessage, to: string): Promise<boolean> {
  if (customer === to || customer === null) return customer === to;
  return (await readPerson(db, account, to)).names.includes(customer);
}
