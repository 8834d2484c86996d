import {
  coveringLink,
  homeOfCtas,
  isShort,
  type Link,
  numberValue,
  readLink,
} from '../../../../shared/carriers/cta.ts';
import { CTA_RULE } from '../../../../shared/carriers/scrub-rules.ts';
import { inCountry, isInternational } from '../../../../shared/money/accounts/number-check.ts';
import { FreshCache } from '../../../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, liveAccountOf } from '../../../../shared/platform/runtime/ids.ts';
import type { Pattern } from '../../../../shared/templates/sms/pattern.ts';
import type { SlotType } from '../../../../shared/templates/sms/slot.ts';
import { foldLineBreaks } from '../../../../shared/templates/sms/template.ts';
import { perProcess } from '../../../api/endpoint.ts';
import type { Caller } from '../../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../../http/field-problems.ts';
import type { Refused } from '../../../http/idempotency/action.ts';
import { captureSlots } from '../matching/match.ts';
import { readApprovedCtas } from './cta-store.ts';

/**
 * Compares links and numbers of texts with the registered ones, before any debit, for accounts with `ctaCheck`. A
 * process reads a list at most once in 4 s. Links are never opened.
 */

/** Each list has up to 2,000 entries. */
const REMEMBERED = 200;
const NONE: ReadonlySet<string> = new Set();

const registeredOf = perProcess(
  ({ db, clock, config }) =>
    new FreshCache<AccountId, ReadonlySet<string>>({
      ...{ clock, freshMs: config.keyCacheMs, maxEntries: REMEMBERED },
      read: (account) => readApprovedCtas(db, account),
    }),
);

type CtaCheck = (text: string) => readonly FoundCta[];

/** `pattern`: of the texts' template. Undefined for accounts without the check. Rejects with the store's error. */
export async function ctaCheckOf(
  gateway: Parameters<typeof registeredOf>[0],
  account: Pick<Caller['account'], '_id' | 'country' | 'dlt' | 'ctaCheck'>,
  pattern: Pattern | undefined,
): Promise<CtaCheck | undefined> {
  if (account.ctaCheck === undefined) return undefined;
  const registered = (await registeredOf(gateway).get(liveAccountOf(account._id))) ?? NONE;
  const home = homeOfCtas(account);
  return (text) => {
    const compared = foldLineBreaks(text);
    const found = findCtas(compared, home, pattern && spansOf(pattern, compared));
    return found.filter(({ covering }) => !covering.some((one) => registered.has(one)));
  };
}

/** Fixed text and `{#var#}` are examined. Typed slots say themselves whether their digits are a callback number. */
const HOLDS: Readonly<Partial<Record<SlotType, SlotSpan['holds']>>> = {
  ...{ numeric: 'none', alphanumeric: 'none', email: 'none', cbn: 'number' },
};

function spansOf(pattern: Pattern, text: string): readonly SlotSpan[] {
  const values = captureSlots(pattern, text);
  if (values === undefined) return [];
  const spans: SlotSpan[] = [];
  let start = 0;
  for (const part of pattern.parts) {
    const end = start + (part.kind === 'literal' ? part.text : (values[part.index] ?? '')).length;
    const holds = part.kind === 'slot' ? HOLDS[part.slot.type] : undefined;
    if (holds !== undefined) spans.push({ start, end, holds });
    start = end;
  }
  return spans;
}

/** For people. It quotes the caller's text. */
export function ctaWords({ kind, written, trait }: FoundCta): string {
  const what = kind === 'link' ? 'The link' : 'The number';
  return `${what} ${JSON.stringify(written)} is not registered to the account${trait === undefined ? '' : TRAITS[trait]}.`;
}

const TRAITS: Readonly<Record<NonNullable<FoundCta['trait']>, string>> = {
  short: ': it is of a shortener, and counts as it is written, wherever it leads',
  punycode: ': its host has letters of other scripts, and may look like another one',
  address: ': it is an IP address, which operators do not register',
};

const { codes: CODES, advice: ADVICE } = CTA_RULE;

export class MissingCtas {
  readonly #problems = new FieldProblems();
  readonly #found = new Map<string, FoundCta>();

  add(field: string, missing: readonly FoundCta[]): void {
    for (const one of missing) {
      if (this.#found.size < LISTED_MAX) this.#found.set(one.written, one);
      this.#problems.add(field, 'cta_not_registered', ctaWords(one));
    }
  }

  words(): readonly string[] {
    return [...this.#found.values()].map(ctaWords);
  }

  /** The 400 that names each, with the scrubbing code it would have caused. */
  refusal(): Refused | undefined {
    const [first] = this.#found.values();
    if (first === undefined) return undefined;
    const [, { errors = [], extra = {} }] = invalidRequest(this.#problems);
    const more = this.#problems.count - 1;
    const others = more === 0 ? '' : ` ${more} more ${more === 1 ? 'is' : 'are'} not, either: \`errors\` lists them.`;
    const code = first.kind === 'link' ? CODES.join(' or ') : CODES[0];
    const detail = `${ctaWords(first)}${others} Operators refuse such a text with the code ${code}. ${ADVICE}`;
    return {
      kind: 'refused',
      problem: ['cta_not_registered', { detail, errors, extra: { ...extra, scrub_code: CODES[0] } }],
    };
  }
}

/** The most that a dry run lists. */
const LISTED_MAX = 5;

interface FoundCta {
  readonly kind: 'link' | 'number';
  readonly written: string;
  /** Registrations that would cover it (`CtaDocument.value`), the most general first. */
  readonly covering: readonly string[];
  /** A warning about a link: it hides its target, its letters are not what they seem, or it names no host. */
  readonly trait?: 'short' | 'punycode' | 'address';
}

interface SlotSpan {
  readonly start: number;
  readonly end: number;
  /** `number`: a callback number (`{#cbn#}`). `none`: digits that nobody calls (`{#numeric#}`, `{#alphanumeric#}`). */
  readonly holds: 'number' | 'none';
}

/** The most per text. */
const FOUND_MAX = 20;
const WRITTEN_MAX = 120;

/**
 * Links and numbers as a phone would show them. A link has a scheme, begins with `www.`, or is a host with a path or a
 * known ending; mail addresses are none. A number fits a numbering plan (of `home`, or with plus) or India's series
 * 1800, 1860, 140 and 160. Typed slots decide first.
 */
export function findCtas(text: string, home: string, slots: readonly SlotSpan[] = []): readonly FoundCta[] {
  const links = [...linksOf(text)].slice(0, FOUND_MAX);
  const found: FoundCta[] = links.map(({ written, link }) => ({
    kind: 'link',
    written: written.slice(0, WRITTEN_MAX),
    covering: coveringLink(link),
    ...traitOf(link),
  }));
  const taken: readonly SlotSpan[] = [
    ...links.map(({ at, written }) => ({ start: at, end: at + written.length, holds: 'none' as const })),
    ...slots,
  ];
  for (const written of numbersOf(text, home, taken)) {
    if (found.length >= FOUND_MAX) break;
    found.push({ kind: 'number', written, covering: [numberValue(written, home)] });
  }
  return found;
}

function traitOf({ host, isAddress }: Link): Pick<FoundCta, 'trait'> {
  if (isAddress) return { trait: 'address' };
  if (isShort(host)) return { trait: 'short' };
  return /(^|\.)xn--/.test(host) ? { trait: 'punycode' } : {};
}

/** A scheme and all after it, or a host alone. Every repetition is bounded, so matching stays linear. */
const LINK =
  /(?<![\p{L}\p{N}+.-])[a-z][a-z0-9+.-]{0,20}:\/\/[^\s<>"“”]{1,500}|(?<![\p{L}\p{N}\p{M}@._%+-])(?:[\p{L}\p{N}\p{M}_-]{1,63}[.．。]){1,8}(?:xn--[a-z0-9-]{2,59}|[\p{L}\p{M}]{2,24}|\d{1,3}(?=[/?#:]))(?![\p{L}\p{N}\p{M}@])(?::\d{1,5})?(?:[/?#][^\s<>"“”]{0,500})?/giu;
/** Ends a sentence or a bracket after a link. */
const BEHIND = /[.,;:!?'’)\]}|।*_~]+$/u;
/** Endings of hosts that phones link without a path. Others are words joined by a full stop, like `left.Thank`. */
const ENDINGS: ReadonlySet<string> = new Set(
  [
    'com net org info biz in co io ai app dev me ly gl gd to cc tv xyz online site shop store live link page click top club vip',
    'gov edu bank finance money health care education academy travel world today tech cloud digital us uk eu ru cn ae sg pro mobi',
    'asia fun icu one ltd india ink bz भारत ভারত భారత్ இந்தியா рф 中国',
  ].flatMap((line) => line.split(' ')),
);

function* linksOf(text: string): Generator<{ readonly at: number; readonly written: string; readonly link: Link }> {
  for (const { 0: whole, index } of text.matchAll(LINK)) {
    const written = whole.replace(BEHIND, '');
    const hasScheme = written.includes('://');
    const [host = ''] = written.split(/[/?#:]/, 1);
    const ending =
      host
        .split(/[.．。]/)
        .at(-1)
        ?.toLowerCase() ?? '';
    const isLink =
      hasScheme || /[/?#]/.test(written) || /^www\./i.test(host) || ENDINGS.has(ending) || ending.startsWith('xn--');
    const link = isLink ? readLink(written) : undefined;
    if (link !== undefined) yield { at: index, written, link };
  }
}

/** Groups of digits with one space, hyphen or bracket between them. */
const DIGITS = /(?<![\p{L}\p{N}.,/@#_-])\+?\(?\d{2,16}(?:[ ()-]{1,2}\d{2,15}){0,7}(?![\p{L}\p{N}_@]|[.,/]\d)/gu;

function* numbersOf(text: string, home: string, taken: readonly SlotSpan[]): Generator<string> {
  for (const { 0: whole, index } of text.matchAll(DIGITS)) {
    const slot = taken.find(({ start, end }) => start < index + whole.length && index < end);
    if (slot?.holds === 'none') continue;
    if (slot?.holds === 'number' || isPhone(whole, home)) yield whole;
    else yield* whole.split(/ +/).filter((one) => isPhone(one, home)); // two numbers, or an amount and a number
  }
  for (const { start, end, holds } of taken) {
    // A short code is a number where the slot says so.
    const value = holds === 'number' ? text.slice(start, end) : '';
    if (/^\d$|^\D*$/.test(value) || [...value.matchAll(DIGITS)].length > 0) continue;
    yield value;
  }
}

/** MSG91 ("How to Whitelist URLs and Callback Numbers on DLT"): toll-free 1800 and 1860, 140 and 160. */
const INDIAN_SERIES = /^(1800|1860)\d{4,7}$|^1[46]0\d{7}$/;
/** A mobile number, or a landline with its 0 or country code: without, it may be any ten digits. */
const INDIAN = /^(91|0)?[6-9]\d{9}$|^(91|0)[1-9]\d{9}$/;

function isPhone(written: string, home: string): boolean {
  const digits = written.replaceAll(/\D/g, '');
  if (digits.length < 8 || digits.length > 15) return false;
  if (written.startsWith('+')) return isInternational(digits);
  if (home === 'IN' && INDIAN_SERIES.test(digits)) return true;
  return (home !== 'IN' || INDIAN.test(digits)) && inCountry(digits, home) !== undefined;
}
