import type { ProviderDocument } from './provider.ts';

/** Invalid or missing settings of a provider; each problem names its field. */
export class BadProvider extends Error {
  readonly code = 'bad_provider';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/** The settings of a provider that an operator may change, secrets in clear. */
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
/** Ids of the Graph API are digits, but its simulators and proxies also use words. Ids become part of a path. */
export const GRAPH_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Characters allowed in an HTTP header. Access tokens have a few hundred of them. */
const SECRET = /^[\x21-\x7e]{1,4096}$/;

/** Throws `BadProvider` with all problems. */
export function checkProvider(settings: Partial<ProviderSettings>): asserts settings is ProviderSettings {
  const problems = providerProblems(settings);
  if (problems.length > 0) throw new BadProvider(problems);
}

/** All that is wrong or missing. */
export function providerProblems(settings: Partial<ProviderSettings>): readonly string[] {
  const problems = REQUIRED.filter((name) => settings[name] === undefined).map((name) => `${name}: it is required.`);
  const check = <Name extends keyof ProviderSettings>(
    name: Name,
    fits: (value: ProviderSettings[Name]) => boolean,
    form: string,
  ): void => {
    const value = settings[name];
    // A field of the `Partial` that is present has its type from `ProviderSettings`.
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

/** Numeric settings with their minimum and maximum. */
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
