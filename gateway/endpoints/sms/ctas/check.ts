import { homeOfCtas } from '../../../../shared/carriers/cta.ts';
import { CTA_RULE } from '../../../../shared/carriers/scrub-rules.ts';
import { FreshCache } from '../../../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, liveAccountOf } from '../../../../shared/platform/runtime/ids.ts';
import type { Pattern } from '../../../../shared/templates/sms/pattern.ts';
import type { SlotType } from '../../../../shared/templates/sms/slot.ts';
import { foldLineBreaks } from '../../../../shared/templates/sms/template.ts';
import { perProcess } from '../../../api/endpoint.ts';
import type { Caller } from '../../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../../http/field-problems.ts';
import type { Refused } from '../../../http/idempotency/action.ts';
import { captureSlots } from '../matching/reach.ts';
import { readApprovedCtas } from './cta-store.ts';
import { type FoundCta, findCtas, type SlotSpan } from './find-ctas.ts';

/**
 * Compares the links and numbers of texts with what the account registered, before any debit. Of accounts with `ctaCheck` alone: then a
 * process reads the account's list at most once in 4 s. Links are never opened.
 */

/** Accounts whose lists are kept, each of up to 2,000 entries. */
const REMEMBERED = 200;
const NONE: ReadonlySet<string> = new Set();

const registeredOf = perProcess(
  ({ db, clock, config }) =>
    new FreshCache<AccountId, ReadonlySet<string>>({
      ...{ clock, freshMs: config.keyCacheMs, maxEntries: REMEMBERED },
      read: (account) => readApprovedCtas(db, account),
    }),
);

/** The links and numbers of a text that are not registered. */
export type CtaCheck = (text: string) => readonly FoundCta[];

/** `pattern`: of the template of the texts. Undefined for an account whose texts nobody looks at. Rejects with the store's error. */
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

/** What `{#var#}` and fixed text hold is looked at; a slot with a type says itself whether its digits are a number to call. */
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

/** For people: which one it is. The detail quotes the caller's text. */
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

/** Collects what is missing in the texts of a request. */
export class MissingCtas {
  readonly #problems = new FieldProblems();
  readonly #found = new Map<string, FoundCta>();

  add(field: string, missing: readonly FoundCta[]): void {
    for (const one of missing) {
      if (this.#found.size < LISTED_MAX) this.#found.set(one.written, one);
      this.#problems.add(field, 'cta_not_registered', ctaWords(one));
    }
  }

  /** A sentence for each. */
  words(): readonly string[] {
    return [...this.#found.values()].map(ctaWords);
  }

  /** The 400 that names each, and the code that it would have brought. Undefined when nothing is missing. */
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

/** More are not told of by a dry run. */
const LISTED_MAX = 5;
