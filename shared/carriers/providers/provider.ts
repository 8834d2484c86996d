import type { BusinessNumber } from '../../messages/document/chat-message.ts';
import type { AccountId, CallbackId } from '../../platform/runtime/ids.ts';

/**
 * A business number of an account on the chat-app channel, and how to reach its provider, an API in the shapes of the
 * WhatsApp Cloud API. An account may have several; a number belongs to one account. Workers see changes within seconds.
 */
export interface ProviderDocument {
  /** The number, digits: `from` of messages that leave, `to` of customers' messages. */
  readonly _id: BusinessNumber;
  readonly account: AccountId;
  readonly status: 'active' | 'paused';
  /** Base address up to and including the version: `https://graph.example/v23.0`. */
  readonly baseUrl: string;
  /** The provider's id of the number; unique, because callbacks name it. */
  readonly phoneNumberId: string;
  /** Id of the business account (WABA), which the templates belong to. */
  readonly businessId: string;
  /** Id of the provider's app, which samples of file headers in templates are uploaded to. */
  readonly appId?: string;
  /** Sealed by the secret box: the access token, and the app secret that signs callbacks. */
  readonly token: string;
  readonly appSecret: string;
  /** The provider presents it in its verify challenge. Sealed too. */
  readonly verifyToken: string;
  /** The provider posts to `/chatapp/callback/<callback>`. */
  readonly callback: CallbackId;
  /** Messages a second; 80 for a usual number. */
  readonly perSecond: number;
  /** Most sends in flight. The usual rate needs 80 if an answer takes a second. */
  readonly windowSize: number;
  /** Least time between two messages to one customer, in milliseconds. */
  readonly perCustomerMs: number;
  /** Time limit of one send as a whole. */
  readonly timeoutMs: number;
  /** `list`: templates go only to customers on the account's opt-in list. */
  readonly optIn: 'off' | 'list';
  /**
   * What happens to a send that is still unanswered after `unknownWaitMs`. `assume_sent`: it counts as sent, so it may
   * be charged and never arrive. `resend`: it is sent again and may arrive twice.
   */
  readonly unknownPolicy: 'assume_sent' | 'resend';
  readonly unknownWaitMs: number;
  /**
   * Why it was stopped: the provider does not allow token, number or account. Our code, a colon, and the provider's
   * words: `provider_payment_problem: (131042) …`. `provider resume` starts it again.
   */
  readonly stoppedReason?: string;
  /** When to ask whether the cause is gone, if it `endsByItself`. `tries`: how often it was still there. */
  readonly probe?: { readonly at: Date; readonly tries: number };
  /** Why it was stopped, while one message at a time is tried, until one is taken. */
  readonly trial?: { readonly reason: string; readonly tries: number };
  /** Duties that fail now and are retried. A success removes the entry. */
  readonly troubles?: { readonly [What in ProviderDuty]?: ProviderTrouble };
  /** The provider's last news of the business account or its number: its quality, its limits, a ban. */
  readonly notice?: { readonly at: Date; readonly words: string };
  /** The volume tiers that the business account has reached, the newest last. */
  readonly tiers?: readonly VolumeTier[];
  readonly createdAt: Date;
  /** The number with the latest time is the account's default (`byRank`). */
  readonly defaultAt?: Date;
}

/** The provider's discount from so many messages a month on, in its words (WhatsApp, "Volume tiers"). */
export interface VolumeTier {
  /** `UTILITY`, `AUTHENTICATION`. */
  readonly category: string;
  /** `INDIA`. */
  readonly region: string;
  /** The range of messages that it is for: `25000001:50000000`. */
  readonly tier: string;
  /** `2026-11`. Absent when the provider names none. */
  readonly month?: string;
  readonly at: Date;
}

/** Sorts an account's numbers. The default number comes first: the one made so last, or else the oldest. */
export function byRank(a: ProviderRank, b: ProviderRank): number {
  const made = (b.defaultAt?.getTime() ?? 0) - (a.defaultAt?.getTime() ?? 0);
  return made || a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1);
}

type ProviderRank = Pick<ProviderDocument, '_id' | 'createdAt' | 'defaultAt'>;

export type ProviderDuty = 'templates' | 'requests' | 'sends' | 'statuses';

export interface ProviderTrouble {
  readonly at: Date;
  /** For the operator; contains neither secrets nor customers' numbers. */
  readonly reason: string;
}

export const PROVIDER_DEFAULTS = {
  status: 'active',
  perSecond: 80,
  windowSize: 80,
  perCustomerMs: 0,
  timeoutMs: 10_000,
  optIn: 'off',
  unknownPolicy: 'assume_sent',
  unknownWaitMs: 900_000,
} as const satisfies Partial<ProviderDocument>;

/** The `parts[].key` of a sent message. Includes the account, because `wamid.…` may not be unique. */
export function chatMessageKey(account: AccountId, upstreamId: string): string {
  return `chatapp:${account}:${upstreamId}`;
}

/** `stopped`: the provider does not allow token, number or account. `failing`: active, but its duties fail. */
type ProviderCondition = ProviderDocument['status'] | 'stopped' | 'failing';

export function providerCondition(provider: ProviderDocument): ProviderCondition {
  if (provider.stoppedReason !== undefined) return 'stopped';
  const fails = troublesOf(provider).length > 0 || provider.trial !== undefined;
  return provider.status === 'active' && fails ? 'failing' : provider.status;
}

/** Why it is stopped, or was before the trial that now runs. */
export function stopOf({ stoppedReason, trial }: ProviderDocument): string | undefined {
  return stoppedReason ?? trial?.reason;
}

/** Sends first. */
export function troublesOf({
  troubles = {},
}: Pick<ProviderDocument, 'troubles'>): readonly (ProviderTrouble & { readonly duty: ProviderDuty })[] {
  return (['sends', 'statuses', 'templates', 'requests'] as const).flatMap((duty) => {
    const trouble = troubles[duty];
    return trouble === undefined ? [] : [{ duty, ...trouble }];
  });
}

const DUTIES: Readonly<Record<ProviderDuty, string>> = {
  templates: 'copying the templates',
  requests: 'asking for templates',
  sends: 'sending',
  statuses: 'after sending',
};

export function troubleInWords({ duty, reason }: { readonly duty: ProviderDuty; readonly reason: string }): string {
  return `${DUTIES[duty]}: ${reason}`;
}

/** Invalid or missing settings of a provider; each problem names its field. */
export class BadProvider extends Error {
  readonly code = 'bad_provider';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

export type ProviderSettings = Pick<
  ProviderDocument,
  | 'baseUrl'
  | 'phoneNumberId'
  | 'businessId'
  | 'appId'
  | 'token'
  | 'appSecret'
  | 'perSecond'
  | 'windowSize'
  | 'perCustomerMs'
  | 'timeoutMs'
  | 'optIn'
  | 'unknownPolicy'
  | 'unknownWaitMs'
>;

const REQUIRED = ['baseUrl', 'phoneNumberId', 'businessId', 'token', 'appSecret'] as const;
const WEEK_MS = 604_800_000;
/** Ids of the Graph API are digits, but simulators and proxies also use words. Ids become part of a path. */
export const GRAPH_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Characters allowed in an HTTP header. Access tokens have a few hundred. */
const SECRET = /^[\x21-\x7e]{1,4096}$/;

/** Throws `BadProvider` with all problems. */
export function checkProvider(settings: Partial<ProviderSettings>): asserts settings is ProviderSettings {
  const problems = providerProblems(settings);
  if (problems.length > 0) throw new BadProvider(problems);
}

export function providerProblems(settings: Partial<ProviderSettings>): readonly string[] {
  const problems = REQUIRED.filter((name) => settings[name] === undefined).map((name) => `${name}: it is required.`);
  const check = <Name extends keyof ProviderSettings>(
    name: Name,
    fits: (value: ProviderSettings[Name]) => boolean,
    form: string,
  ): void => {
    const value = settings[name];
    // The field is present, so it has its type from `ProviderSettings`.
    if (value !== undefined && !fits(value as ProviderSettings[Name])) problems.push(`${name}: ${form}.`);
  };
  check('baseUrl', isBaseUrl, 'an http or https address with the version as its end, without a slash after it');
  check('phoneNumberId', (id) => GRAPH_ID.test(id), '1 to 64 letters, digits, _ and -');
  check('businessId', (id) => GRAPH_ID.test(id), '1 to 64 letters, digits, _ and -');
  check('appId', (id) => id === undefined || GRAPH_ID.test(id), '1 to 64 letters, digits, _ and -');
  check('token', (secret) => SECRET.test(secret), '1 to 4096 visible ASCII characters');
  check('appSecret', (secret) => SECRET.test(secret), '1 to 4096 visible ASCII characters');
  for (const [name, min, max] of RANGES) check(name, (value) => whole(value, min, max), `${min} to ${max}`);
  return problems;
}

/** Name, minimum, maximum. */
export const RANGES = [
  ['perSecond', 1, 1_000],
  ['windowSize', 1, 1_000],
  ['perCustomerMs', 0, 60_000],
  ['timeoutMs', 100, 60_000],
  ['unknownWaitMs', 0, WEEK_MS],
] as const;

function isBaseUrl(text: string): boolean {
  if (text.length > 2_048 || text.endsWith('/') || !URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

function whole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
