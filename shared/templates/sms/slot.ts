/**
 * Slots of a DLT template: the parts that a sender fills in. `{#var#}` takes any text. The typed slots came with TRAI's
 * direction of 18-11-2025 on tagged variables (MSG91, "Variable Tagging on DLT SMS Templates").
 */
export const SLOT_TYPES = ['var', 'numeric', 'alphanumeric', 'url', 'urlott', 'cbn', 'email'] as const;
export type SlotType = (typeof SLOT_TYPES)[number];

/** The word between `{#` and `#}` (its case must match), and its type. */
export const SLOT_WORDS: ReadonlyMap<string, SlotType> = new Map([
  ['var', 'var'],
  ['numeric', 'numeric'],
  ['number', 'numeric'],
  ['alphanumeric', 'alphanumeric'],
  ['url', 'url'],
  ['urlott', 'urlott'],
  ['cbn', 'cbn'],
  ['email', 'email'],
]);

export const SLOT_MEANING: Readonly<Record<SlotType, string>> = {
  var: 'any text',
  numeric: 'digits',
  alphanumeric: 'letters, digits, spaces and _ / .',
  url: 'a web address',
  urlott: 'a web address',
  cbn: 'a phone number',
  email: 'an email address',
};

/** The operator's rule for a slot that the text calls `{#var#}`, from a table beside the text. */
export interface SlotRule {
  readonly type: SlotType;
  /** Longest value, if the operator gives one. */
  readonly max?: number;
}

/** With final limits, in UTF-16 code units, as an SMS counts them (an emoji is two). */
export interface Slot {
  readonly type: SlotType;
  readonly min: 0 | 1;
  readonly max: number;
}

/**
 * `{#var#}`: 30 in most operators' rules, 40 in some; alphanumeric 40 (MSG91). Spec gap: no source names limits of the
 * other types; theirs only bound a value, and the carrier's scrubbing judges it.
 */
export const SLOT_LIMITS: Readonly<Record<SlotType, number>> = {
  var: 30,
  numeric: 40,
  alphanumeric: 40,
  url: 120,
  urlott: 120,
  cbn: 20,
  email: 80,
};

/** Spec gap: free text may be empty, since no source forbids it; a typed value is at least one character. */
export function slotOf(type: SlotType, max = SLOT_LIMITS[type]): Slot {
  return { type, min: type === 'var' ? 0 : 1, max };
}

/**
 * The values that a slot accepts. A *class* is any run of allowed code units, so a matcher may cut it anywhere. A
 * *shape* has an inner order (an email has one @), so it returns where values from a given start may end.
 */
type SlotValues =
  | { readonly kind: 'class'; allows(codeUnit: number): boolean }
  | { readonly kind: 'shape'; ends: ShapeEnds };

/** Every index after a value that begins at `start`, ascending, none above `limit`. Reads the text once. */
type ShapeEnds = (text: string, start: number, limit: number) => number[];

export const SLOT_VALUES: Readonly<Record<SlotType, SlotValues>> = {
  var: { kind: 'class', allows: () => true },
  numeric: { kind: 'class', allows: isDigit },
  alphanumeric: { kind: 'class', allows: isAlphanumeric },
  url: { kind: 'shape', ends: urlEnds },
  urlott: { kind: 'shape', ends: urlEnds },
  cbn: { kind: 'shape', ends: phoneEnds },
  email: { kind: 'shape', ends: emailEnds },
};

/** The length is not checked, but an empty value is only of type `var`. */
export function isOfType(type: SlotType, value: string): boolean {
  const values = SLOT_VALUES[type];
  if (values.kind === 'shape') return values.ends(value, 0, value.length).at(-1) === value.length;
  if (value === '') return type === 'var';
  for (let i = 0; i < value.length; i++) if (!values.allows(value.charCodeAt(i))) return false;
  return true;
}

function isDigit(codeUnit: number): boolean {
  return codeUnit >= 48 && codeUnit <= 57;
}

function isLetterOrDigit(codeUnit: number): boolean {
  return isDigit(codeUnit) || (codeUnit >= 65 && codeUnit <= 90) || (codeUnit >= 97 && codeUnit <= 122);
}

/** Letters of any script, joiners of Indic and Persian scripts; spaces and `_ / .`, allowed by Vi. */
function isAlphanumeric(codeUnit: number): boolean {
  if (codeUnit < 128) return isLetterOrDigit(codeUnit) || ALSO_ALPHANUMERIC.has(codeUnit);
  if (codeUnit === ZERO_WIDTH_NON_JOINER || codeUnit === ZERO_WIDTH_JOINER) return true;
  return /[\p{L}\p{M}\p{N}]/u.test(String.fromCharCode(codeUnit));
}
const ZERO_WIDTH_NON_JOINER = 0x200c;
const ZERO_WIDTH_JOINER = 0x200d;
const ALSO_ALPHANUMERIC = new Set([...' _/.'].map((sign) => sign.charCodeAt(0)));

/** `[http[s]://]host.tld[:port][/…]`: the form only; the operators compare it with what is registered. */
function urlEnds(text: string, start: number, limit: number): number[] {
  const scheme = SCHEMES.find((one) => text.slice(start, start + one.length).toLowerCase() === one) ?? '';
  const { ends, next } = hostEnds(text, start + scheme.length, limit);
  const hostIsWhole = ends.at(-1) === next;
  if (hostIsWhole && next < limit && '/:?#'.includes(text.charAt(next))) {
    for (let at = next; at < limit && isVisible(text.charCodeAt(at)); at++) ends.push(at + 1);
  }
  return ends;
}
const SCHEMES = ['https://', 'http://'];

function emailEnds(text: string, start: number, limit: number): number[] {
  let at = start;
  while (at < limit && isLocalPart(text.charCodeAt(at))) at++;
  const local = text.slice(start, at);
  if (local === '' || local.startsWith('.') || local.endsWith('.') || text[at] !== '@') return [];
  return hostEnds(text, at + 1, limit).ends;
}

/** Digits, perhaps in groups: `+91 98765 43210`, `1800-123-4567`; 3 to 15 of them (short codes, E.164 §6). */
function phoneEnds(text: string, start: number, limit: number): number[] {
  const ends: number[] = [];
  let digits = 0;
  for (let at = text[start] === '+' ? start + 1 : start; at < limit; at++) {
    if (isDigit(text.charCodeAt(at))) {
      digits++;
      if (digits > 15) break;
      if (digits >= 3) ends.push(at + 1);
    } else if (digits === 0 || !' -'.includes(text.charAt(at)) || !isDigit(text.charCodeAt(at - 1))) {
      break;
    }
  }
  return ends;
}

/** Labels of letters, digits and inner hyphens, with at least one dot. `next`: the first index after the host. */
function hostEnds(text: string, start: number, limit: number): { readonly ends: number[]; readonly next: number } {
  const ends: number[] = [];
  let dots = 0;
  let at = start;
  let previous = 46; // as after a dot: a label may begin
  for (; at < limit; at++) {
    const codeUnit = text.charCodeAt(at);
    if (isLetterOrDigit(codeUnit)) {
      if (dots > 0) ends.push(at + 1);
    } else if (codeUnit === 46 && isLetterOrDigit(previous)) {
      dots++;
    } else if (codeUnit !== 45 || previous === 46) {
      break;
    }
    previous = codeUnit;
  }
  return { ends, next: at };
}

function isLocalPart(codeUnit: number): boolean {
  return isLetterOrDigit(codeUnit) || "._%+-'".includes(String.fromCharCode(codeUnit));
}

/** Neither a space nor a control character. */
function isVisible(codeUnit: number): boolean {
  return (codeUnit > 0x20 && codeUnit < 0x7f) || codeUnit > 0xa0;
}
