/**
 * Slots of a DLT template: the parts that a sender fills in. `{#var#}` takes any text. The typed slots came with TRAI's direction
 * of 18-11-2025 on tagged variables (MSG91, "Variable Tagging on DLT SMS Templates").
 */
export const SLOT_TYPES = ['var', 'numeric', 'alphanumeric', 'url', 'urlott', 'cbn', 'email'] as const;
export type SlotType = (typeof SLOT_TYPES)[number];

/** The word between `{#` and `#}` (its case must match) and the type that it stands for. */
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

/** For people: what a slot of the type holds. */
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

/** A slot with its final limits. Lengths are UTF-16 code units, as an SMS counts them (an emoji is two). */
export interface Slot {
  readonly type: SlotType;
  readonly min: 0 | 1;
  readonly max: number;
}

/** Longest value by type. */
export type SlotLimits = Readonly<Record<SlotType, number>>;

/**
 * `{#var#}`: 30 in most operators' rules, 40 in some; alphanumeric 40 (MSG91). Spec gap: for the other types no source names
 * a limit, so theirs only keep a value in bounds; the carrier's scrubbing judges what we let through.
 */
export const DEFAULT_SLOT_LIMITS: SlotLimits = {
  var: 30,
  numeric: 40,
  alphanumeric: 40,
  url: 120,
  urlott: 120,
  cbn: 20,
  email: 80,
};

/** Spec gap: free text may be empty, since no source forbids it; a typed value is at least one character of its type. */
export function slotOf(type: SlotType, limits: SlotLimits, max: number | undefined): Slot {
  return { type, min: type === 'var' ? 0 : 1, max: max ?? limits[type] };
}
