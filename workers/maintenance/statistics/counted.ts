import { countryOf } from '../../../shared/carriers/routing/country.ts';
import type { ChatMessageDocument, FallbackEnd } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument, StoredMessage } from '../../../shared/messages/document/message.ts';
import { type Amount, HOUR_MS, type TrafficKind } from '../../../shared/messages/statistics.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { isRefundable } from '../../../shared/money/ledger/change.ts';
import { type AccountId, idTime } from '../../../shared/platform/runtime/ids.ts';

/** What is read of a message to count it. */
export type Counted = Pick<
  StoredMessage,
  | '_id'
  | 'v'
  | 'channel'
  | 'account'
  | 'to'
  | 'state'
  | 'operator'
  | 'errorCode'
  | 'history'
  | 'parts'
  | 'earlier'
  | 'givenUp'
> &
  Partial<Pick<MessageDocument, 'sender' | 'route' | 'routed' | 'segments' | 'template' | 'credits'>> & {
    /** Of a chat-app message that left: the account's number. */
    readonly from?: ChatMessageDocument['from'];
    readonly direction?: 'in' | 'out';
    readonly content?: { readonly name?: string };
    readonly claim?: Pick<NonNullable<MessageDocument['claim']>, 'carrier'>;
    readonly conversation?: ChatMessageDocument['conversation'];
    readonly opened?: Pick<NonNullable<ChatMessageDocument['opened']>, 'credits'>;
    readonly fallback?: { readonly ended?: Pick<FallbackEnd, 'kind'> };
  } & Pick<ChatMessageDocument, 'pricing' | 'cost'>;

export const COUNTED_FIELDS = {
  ...{ v: 1, channel: 1, account: 1, state: 1, operator: 1, errorCode: 1, history: 1, direction: 1 },
  ...{ conversation: 1, pricing: 1, cost: 1, 'fallback.ended.kind': 1 },
  ...{ 'claim.carrier': 1, 'opened.credits': 1, 'parts.state': 1, 'earlier.parts.state': 1, 'earlier.carrier': 1 },
  ...{ 'givenUp.carrier': 1, 'givenUp.parts.state': 1 },
  ...{ to: 1, from: 1, sender: 1, route: 1, routed: 1, segments: 1, template: 1, credits: 1, 'content.name': 1 },
} as const;

/** What a message cost the account. */
export interface Paid {
  /** What was debited for it, and how much of that came back: all or nothing. */
  readonly credits: number;
  readonly refunded: number;
  /** What the operator earns with the rest. Absent where nobody has said what a credit earns. */
  readonly sale?: Amount;
}

/** What the operator earns with one credit of an account. */
export type CreditValues = ReadonlyMap<AccountId, Amount>;

/** As in `TrafficKind`; what is unknown is undefined here. */
export type Kind = Pick<TrafficKind, 'half' | 'channel'> & {
  readonly [Name in Exclude<keyof TrafficKind, 'half' | 'channel' | 'other'>]?: TrafficKind[Name] | undefined;
};

/** A message with all that counts of it. */
export interface Sorted {
  readonly message: Counted;
  readonly kind: Kind;
  readonly paid: Paid;
}

/** `names`: of the carriers, by id. `refunded`: conversations that were given back. */
export function sorted(
  message: Counted,
  names: ReadonlyMap<string, string>,
  refunded: ReadonlySet<string | undefined>,
  values: CreditValues,
): Sorted {
  return { message, kind: kindOf(message, names), paid: paidFor(message, refunded, values) };
}

/** What reports group a message by. */
function kindOf(message: Counted, names: ReadonlyMap<string, string>): Kind {
  const { _id, channel, to, operator, claim, from, sender = from, route, routed, template, content, pricing } = message;
  const half = idTime(_id).getTime() % HOUR_MS < HOUR_MS / 2 ? 0 : 1;
  // A carrier's own name is no network: it is in `carrier`.
  const carrier = channel === 'sms' ? claim?.carrier : undefined;
  const isNetwork = operator !== undefined && (carrier === undefined || operator !== names.get(carrier));
  return {
    ...{ half, channel, sender, route, carrier, template: template ?? content?.name, rule: routed?.route },
    ...{ country: countryOf(to), category: pricing?.category, operator: isNetwork ? operator : undefined },
  };
}

function paidFor(message: Counted, isRefunded: ReadonlySet<string | undefined>, values: CreditValues): Paid {
  const { account, channel, opened, conversation } = message;
  const credits = channel === 'sms' ? creditsOf(message) : (opened?.credits ?? 0);
  const isBack = channel === 'sms' ? isRefundable(message) : isRefunded.has(conversation);
  const value = opened === undefined || isBack ? undefined : values.get(account);
  const sale = value && { currency: value.currency, millionths: value.millionths * credits };
  return { credits, refunded: isBack ? credits : 0, ...(sale && { sale }) };
}
