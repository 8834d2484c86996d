import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { type ListedCarrier, listConditions } from '../../../shared/carriers/carrier-condition.ts';
import { type Daytimes, daytimeOpenings, daytimeWords } from '../../../shared/carriers/routing/daytime.ts';
import { explainScrub, predictRefusals, TLV_RULE } from '../../../shared/carriers/scrub-rules.ts';
import { type ConditionDocument, readCarrierConditions } from '../../../shared/conditions/condition.ts';
import { HOURS_LANE, promotionalDeferral, promotionalHours } from '../../../shared/messages/document/routing.ts';
import type { LogRecord } from '../../../shared/messages/settlement/message-log.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { findTemplate, readPausedTemplates } from '../../../shared/templates/sms/store.ts';
import { comparedPattern } from '../../../shared/templates/sms/template.ts';
import type { Gateway, Shown } from '../../api/endpoint.ts';
import { ctaCheckOf, ctaWords } from '../sms/ctas/check.ts';
import { carriersOf, scrubFactsOf } from '../sms/scrubbing/facts.ts';
import { dltCodeOf, explain } from './explain/explain.ts';
import type { Explanation as Shape } from './shapes.ts';
import type { TextlessSms } from './views.ts';
import type { WholeMessage } from './whole.ts';

/** What keeps a message from leaving now, for its account or for operators, who can do more about it. */

type Told = Shown<typeof Shape>;

export interface Facts {
  readonly message: Pick<
    TextlessSms,
    'state' | 'lane' | 'path' | 'template' | 'errorCode' | 'claim' | 'due' | 'outcome' | 'validUntil'
  >;
  readonly refusal: Pick<LogRecord & { readonly kind: 'answer' }, 'carrier' | 'code' | 'reason'> | undefined;
  readonly account: Pick<AccountDocument, 'status' | 'held'>;
  readonly isTemplatePaused: boolean;
  /** When its hours begin, if it is outside them now. */
  readonly hours: Date | undefined;
  /** The same for its recipient's daytime. */
  readonly daytime: { readonly opening: Date; readonly words: string } | undefined;
  readonly carriers: readonly CarrierFacts[];
  /** What is wrong with carriers now (shared/conditions). */
  readonly conditions: readonly Pick<ConditionDocument, '_id' | 'words' | 'since'>[];
}

interface CarrierFacts extends Pick<ListedCarrier, 'condition' | 'words'> {
  readonly carrier: Pick<CarrierDocument, '_id' | 'name' | 'dlt' | 'kind'>;
  readonly binds: readonly { readonly trouble?: { readonly since: Date } }[];
}

/** Undefined when all is well. */
export async function explainWhole(
  gateway: Gateway,
  whole: WholeMessage,
  forOperator: boolean,
): Promise<Told | undefined> {
  const { message, log } = whole;
  const said = explain(message);
  if (message.channel !== 'sms' || !('path' in message)) return said;
  const isWaiting = message.state === 'queued' || message.state === 'waiting';
  if (!isWaiting && said === undefined && message.state !== 'sent') return undefined;
  const { db, clock, config } = gateway;
  const account = await findAccount(db, message.account);
  if (account === undefined) return said;
  const missing = await missingIn(gateway, account, message, whole.said);
  const unregistered = predictRefusals({ missing })[0];
  if (!isWaiting && said === undefined) return unregistered && toldOf(unregistered);
  const now = clock.now();
  const [paused, all, conditions, table] = await Promise.all([
    readPausedTemplates(db),
    listConditions(db, now),
    readCarrierConditions(db),
    gateway.routes.table(),
  ]);
  const onPath = new Set(
    carriersOf(
      all.map(({ carrier }) => carrier),
      message.path,
    ),
  );
  const carriers = all.filter(({ carrier }) => onPath.has(carrier));
  const answers = log.flatMap((record) => (record.kind === 'answer' && record.code !== undefined ? [record] : []));
  const { template } = message;
  const facts: Facts = {
    ...{ message, account, carriers, conditions, refusal: answers.at(-1) },
    isTemplatePaused: template !== undefined && paused.get(message.account)?.includes(template) === true,
    hours: message.lane === HOURS_LANE ? promotionalDeferral(promotionalHours(config), now) : undefined,
    daytime: daytimeFact([account.daytime, table.daytimeOf(message)], message, now),
  };
  const took = carriers.filter(({ carrier }) => carrier._id === message.claim?.carrier);
  const scrubbed = await scrubFactsOf(gateway, account, message, {
    ...{ missing, carriers: (isWaiting || took.length === 0 ? carriers : took).map(({ carrier }) => carrier) },
  });
  if (isWaiting) {
    const [sure] = predictRefusals(scrubbed, forOperator).filter(({ certainty }) => certainty === 'sure');
    return waitsFor(facts, forOperator) ?? said ?? (sure && toldOf(sure));
  }
  const code = dltCodeOf(message);
  const why = code === undefined ? undefined : explainScrub(code, scrubbed, forOperator);
  return refusedBy(facts, said, forOperator) ?? (why && toldOf(why)) ?? said;
}

function daytimeFact(daytimes: Daytimes, message: TextlessSms, now: Date): Facts['daytime'] {
  const opening = daytimeOpenings(now)(daytimes, message);
  return opening && { opening, words: daytimeWords(daytimes) };
}

function toldOf({ cause, advice }: Pick<Told, 'cause' | 'advice'>): Told {
  return { cause, advice };
}

/** Unregistered links and numbers, a sentence each, if the account checks them and the text may be read. */
async function missingIn(
  gateway: Gateway,
  account: AccountDocument,
  { template }: Pick<TextlessSms, 'template'>,
  { text, text_shown: shown }: WholeMessage['said'],
): Promise<readonly string[]> {
  if (account.ctaCheck === undefined || shown !== 'whole' || typeof text !== 'string') return [];
  const found = template === undefined ? undefined : await findTemplate(gateway.db, account._id, template);
  const pattern = found && comparedPattern(found, {});
  return ((await ctaCheckOf(gateway, account, pattern))?.(text) ?? []).map(ctaWords);
}

const AS_SOON = 'It leaves by itself as soon as it may, until its `valid_until`; then it expires and is refunded.';
/** For temporary refusals: a carrier gets a message at most five times. */
const TRIED_AGAIN = 'It is tried again by itself, a few times, and refunded if it cannot leave.';

/** Why a message has not left, in the order in which a worker finds out. Pure. */
export function waitsFor(facts: Facts, forOperator: boolean): Told | undefined {
  const { message, account, isTemplatePaused, hours, daytime, carriers, conditions, refusal } = facts;
  if (account.held === true) return held(account.status, forOperator);
  if (isTemplatePaused) {
    const cause = `It waits because its template ${message.template} is paused.`;
    return { cause, advice: forOperator ? 'Resume the template, or reject it.' : 'Ask your service provider why.' };
  }
  if (hours !== undefined) {
    const cause = 'It waits for the hours in which promotional messages may be sent in India.';
    return { cause, advice: AS_SOON, until: isoTimestamp(hours) };
  }
  if (daytime !== undefined) {
    const cause = `It waits for the recipient's daytime: from ${daytime.words} in all time zones of the country.`;
    if (daytime.opening < message.validUntil) return { cause, advice: AS_SOON, until: isoTimestamp(daytime.opening) };
    return { cause, advice: 'Its `valid_until` is earlier: it expires then, and is refunded.' };
  }
  if (carriers.length === 0) {
    const advice = forOperator
      ? `Give a carrier the path ${message.path}, or change the routes.`
      : `${AS_SOON} Tell your service provider.`;
    return { cause: 'No carrier takes messages on its path now.', advice };
  }
  const down = carriers.filter(({ condition }) => condition !== 'bound' && condition !== 'partly_bound');
  if (down.length === carriers.length) return allDown(down, forOperator);
  const refusing = carriers.flatMap(({ carrier }) => refusalOf(conditions, carrier._id) ?? []);
  if (refusing.length === carriers.length && refusing[0] !== undefined) {
    const { words, since } = refusing[0];
    return forOperator
      ? {
          cause: words,
          advice: 'Find out at the carrier why, or pause it so that others take over.',
          since: isoTimestamp(since),
        }
      : {
          cause: refusedWords(facts),
          advice: message.state === 'waiting' ? TRIED_AGAIN : AS_SOON,
          since: isoTimestamp(since),
        };
  }
  if (message.state !== 'waiting') return undefined;
  if (message.claim === undefined) {
    const cause = "It waits for the recipient's daytime, as it was set when it would have left.";
    return { cause, advice: AS_SOON, ...(message.due && { until: isoTimestamp(message.due) }) };
  }
  const said = refusal === undefined ? '' : `: ${refusal.reason ?? 'refused'} (${refusal.code})`;
  const who = forOperator && refusal?.carrier !== undefined ? refusal.carrier : 'The carrier';
  return {
    cause: `${who} did not take it at the last try${said}.`,
    advice: TRIED_AGAIN,
    ...(message.due && { until: isoTimestamp(message.due) }),
  };
}

function held(status: Facts['account']['status'], forOperator: boolean): Told {
  const cause = `It waits because the account is ${status === 'active' ? 'paused' : status}.`;
  return {
    cause,
    advice: forOperator ? 'Resume the account on its page.' : `Ask your service provider for the reason. ${AS_SOON}`,
  };
}

function allDown(down: readonly CarrierFacts[], forOperator: boolean): Told {
  const isPaused = down.every(({ condition }) => condition === 'paused');
  const times = down.flatMap(({ binds }) => binds.flatMap(({ trouble }) => trouble?.since ?? []));
  const [since] = times.toSorted((a, b) => a.getTime() - b.getTime());
  const more = since === undefined ? {} : { since: isoTimestamp(since) };
  if (forOperator) {
    const cause = `It waits: ${down.map(({ carrier, words }) => `${carrier.name} is ${words}`).join('; ')}.`;
    return { cause, advice: isPaused ? 'Resume the carrier.' : 'See the binds on the page of the carrier.', ...more };
  }
  const what = isPaused ? 'is paused by your service provider' : 'cannot be reached';
  return { cause: `It waits for the carrier, which ${what}.`, advice: AS_SOON, ...more };
}

/** Why a message was refused, if not because of the message. Pure. */
export function refusedBy(facts: Facts, said: Told | undefined, forOperator: boolean): Told | undefined {
  const { message, carriers, conditions } = facts;
  const carrier = carriers.find((one) => one.carrier._id === message.claim?.carrier)?.carrier;
  if (message.state !== 'rejected' || carrier === undefined || message.errorCode === undefined) return undefined;
  const { template: dltId } = message;
  const one = { name: carrier.name, dlt: carrier.dlt ?? 'off' } as const;
  // A carrier over HTTPS gets what its own description of requests says.
  const isLooked = dltId !== undefined && carrier.kind !== 'http';
  const getsNoIds = isLooked && TLV_RULE.predict({ template: { dltId }, carriers: [one] })?.forOperator;
  if (getsNoIds && forOperator) {
    return {
      cause: `${said?.cause ?? `Refused with ${message.errorCode}.`} ${getsNoIds.cause}`,
      advice: getsNoIds.advice,
    };
  }
  const refusing = refusalOf(conditions, carrier._id);
  if (refusing === undefined) return undefined;
  const since = isoTimestamp(refusing.since);
  if (forOperator) {
    return {
      cause: refusing.words,
      advice: 'Find out at the carrier why, or pause it so that others take over.',
      since,
    };
  }
  const advice =
    'Your message is not the reason, and it was refunded. Send it again when your service provider has solved it.';
  return { cause: refusedWords(facts), advice, since };
}

function refusalOf(conditions: Facts['conditions'], carrier: string) {
  return conditions.find(({ _id }) => _id === `carrier.refusing:${carrier}`);
}

function refusedWords({ message, refusal }: Facts): string {
  const code = message.errorCode ?? refusal?.code;
  return `The carrier refuses messages at present${code === undefined ? '' : `, with the code ${code}`}.`;
}
