import { ADDRESSES } from './addresses.ts';
import { ANSWERS } from './answers.ts';
import type { BASICS } from './basics.ts';
import { HTTP } from './http.ts';
import { LINKS, TRUST } from './links.ts';
import { RECEIPTS } from './receipts.ts';
import type { Settings, Values } from './setting.ts';
import { SUBMITS } from './submits.ts';
import { TEXTS } from './texts.ts';

/**
 * The groups of a carrier's settings. Each is an optional field of the carrier's document and holds only the values
 * that were set. No two settings have the same name, because each is an option of `ops carrier`.
 */
export const GROUPS = {
  addresses: ADDRESSES,
  texts: TEXTS,
  submits: SUBMITS,
  links: LINKS,
  trust: TRUST,
  receipts: RECEIPTS,
  answers: ANSWERS,
  http: HTTP,
} as const satisfies Readonly<Record<string, Settings>>;

export const GROUP_NAMES = Object.keys(GROUPS) as readonly (keyof typeof GROUPS)[]; // its own keys

export type StoredGroups = { readonly [Group in keyof typeof GROUPS]?: Partial<Values<(typeof GROUPS)[Group]>> };

type Name = keyof typeof BASICS | { [Group in keyof typeof GROUPS]: keyof (typeof GROUPS)[Group] }[keyof typeof GROUPS];

const SMPP_ONLY: readonly (Name | 'dlt' | 'dltForm' | 'dltChain')[] = [
  ...(['systemType', 'bindKind', 'enquireLinkMs', 'receiptOffsetMinutes', 'dlt', 'dltForm', 'dltChain'] as const),
  ...(['bindAddress', 'addressRange', 'textCoding', 'unicodeCoding', 'longText'] as const),
  ...(['otherHosts', 'receiverHosts', 'plainReceipts'] as const),
  ...(Object.keys({ ...SUBMITS, ...ANSWERS }) as (keyof typeof SUBMITS | keyof typeof ANSWERS)[]), // their own keys
];

/** Whether a carrier of the kind `http` has no use for this setting. */
export function isSmppOnly(name: string): boolean {
  return SMPP_ONLY.some((one) => one === name);
}
