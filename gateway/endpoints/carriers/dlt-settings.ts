import type { CarrierDlt } from '../../../shared/carriers/carrier.ts';
import { type Settings, setting } from '../../../shared/carriers/settings/setting.ts';
import { listOf, matching, oneOf } from '../../../shared/carriers/settings/shapes.ts';

/** The ids of India's DLT as three settings, each one text. A carrier's document has them in one field, because they go together. */

type Tags = readonly number[];

const hex = (tag: number): string => `0x${tag.toString(16).padStart(4, '0')}`;

/** An empty list is `off`. */
const tags = {
  value: 'TAGS',
  form: 'off, or tags for entity, template and perhaps hash, like 0x1400,0x1401,0x1402',
  parse(text: string): Tags | undefined {
    if (text === 'off') return [];
    return /^0x[0-9a-f]{4}(,0x[0-9a-f]{4}){1,2}$/i.test(text) ? text.split(',').map(Number) : undefined;
  },
  show: (all: Tags): string => (all.length === 0 ? 'off' : all.map(hex).join(',')),
};

const FORMS = ['octet', 'cstring'] as const;

export const DLT = {
  dlt: setting(tags, [], 'tags of the TLVs with the ids of DLT, or off'),
  dltForm: setting(oneOf(FORMS), 'octet', 'with dlt: octet strings, or C-octet strings that end with NUL'),
  dltChain: setting(
    listOf(matching('ID', '10 to 20 digits', /^[0-9]{10,20}$/), 10),
    [],
    'with dlt: telemarketers after the entity, for the hash of accounts without a chain of their own',
  ),
} satisfies Settings;

interface DltValues {
  readonly dlt: Tags;
  readonly dltForm: CarrierDlt['form'];
  readonly dltChain: readonly string[];
}

export function dltValues(stored: CarrierDlt | 'off' = 'off'): DltValues {
  if (stored === 'off') return { dlt: [], dltForm: 'octet', dltChain: [] };
  const { entityTag, templateTag, hashTag, form, chain = [] } = stored;
  return { dlt: [entityTag, templateTag, ...(hashTag === undefined ? [] : [hashTag])], dltForm: form, dltChain: chain };
}

/** What is not given stays as it was. A chain is for the hash, so it ends with the hash's tag. A text says what is wrong. */
export function dltWith(given: Partial<DltValues>, stored: CarrierDlt | 'off' = 'off'): CarrierDlt | 'off' | string {
  const { dlt, dltForm, dltChain } = { ...dltValues(stored), ...given };
  const [entityTag, templateTag, hashTag] = dlt;
  if (entityTag === undefined || templateTag === undefined) {
    const isFurther = (given.dltForm ?? 'octet') !== 'octet' || (given.dltChain ?? []).length > 0;
    return isFurther ? 'It needs the tags: give dlt too.' : 'off';
  }
  const chain = hashTag === undefined && given.dltChain === undefined ? [] : dltChain;
  return {
    ...{ entityTag, templateTag, form: dltForm },
    ...(hashTag !== undefined && { hashTag }),
    ...(chain.length > 0 && { chain }),
  };
}
