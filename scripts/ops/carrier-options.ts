import { readFileSync } from 'node:fs';
import { PRESETS } from '../../gateway/endpoints/carriers/presets.ts';
import type { CarrierDlt } from '../../shared/carriers/carrier.ts';
import type { CarrierInput } from '../../shared/carriers/carrier-form.ts';
import { BASICS } from '../../shared/carriers/settings/basics.ts';
import type { Setting, Settings } from '../../shared/carriers/settings/setting.ts';
import { GROUP_NAMES, GROUPS } from '../../shared/carriers/settings/table.ts';
import { Failure } from './command.ts';
import { choice, optional, type Parameter, words } from './parameters.ts';

/** The options for a carrier's settings. Each entry of the tables is one option. The options for DLT together set one field. */

const dltTags = {
  value: 'TAGS',
  form: 'off, or tags for entity, template and perhaps hash, like 0x1400,0x1401,0x1402',
  parse: (text: string): 'off' | Omit<CarrierDlt, 'form'> | undefined => {
    if (text === 'off') return text;
    if (!/^0x[0-9a-f]{4}(,0x[0-9a-f]{4}){1,2}$/i.test(text)) return undefined;
    const [entityTag, templateTag, hashTag] = text.split(',').map(Number);
    if (entityTag === undefined || templateTag === undefined) return undefined;
    return { entityTag, templateTag, ...(hashTag === undefined ? {} : { hashTag }) };
  },
};

const DLT_OPTIONS = {
  dlt: { ...optional(dltTags, 'tags of the TLVs with the ids of DLT, or off'), standard: 'off' },
  dltForm: {
    ...optional(choice(['octet', 'cstring']), 'with --dlt: form of these values'),
    standard: 'octet',
  },
  dltChain: {
    ...optional(
      words('IDS', 'none, or ids of 10 to 20 digits with commas', /^(none|[0-9]{10,20}(,[0-9]{10,20})*)$/),
      'with --dlt: telemarketers after the entity, for the hash of accounts without a `chain`; tags without one end it',
    ),
    standard: 'none',
  },
};

/** If an option is not given, an update keeps the value, and a new carrier gets the default. */
function option({ value, form, about, standard, file, parse, show }: Setting<unknown>): Parameter<unknown> {
  const read = file ? (text: string) => (text === 'off' ? '' : parse(fileText(text))) : parse;
  return { ...optional({ value, form, parse: read }, about), standard: show(standard) };
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function options(group: Settings): Readonly<Record<string, Parameter<unknown>>> {
  return Object.fromEntries(Object.entries(group).map(([name, one]) => [name, option(one)]));
}

const preset = choice(Object.keys(PRESETS));

export const CARRIER_OPTIONS = {
  preset: optional(
    { ...preset, value: 'NAME' },
    'settings that the pages of a known carrier ask for (docs/carriers.md)',
  ),
  ...options(BASICS),
  ...DLT_OPTIONS,
  ...Object.assign({}, ...GROUP_NAMES.map((group) => options(GROUPS[group]))),
} as Readonly<Record<string, Parameter<unknown>>>; // Object.assign loses this type

type Changes = Partial<Omit<CarrierInput, '_id'>>;

/**
 * Arranges the given options as the document has them: settings of a group in their group. Given options override those of a
 * preset. `before`: what an update finds stored for DLT.
 */
export function settingsFrom(
  { preset, ...own }: Readonly<Record<string, unknown>>,
  before: CarrierDlt | 'off' = 'off',
): Changes {
  const chosen = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const given = { ...presetValues(preset), ...chosen };
  const rest: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  const { dlt, dltForm, dltChain, ...others } = given;
  for (const [name, value] of Object.entries(others)) {
    const group = GROUP_NAMES.find((one) => name in GROUPS[one]);
    if (group === undefined) rest[name] = value;
    else groups[group] = { ...groups[group], [name]: value };
  }
  return { ...rest, ...groups, ...dltFrom({ dlt, dltForm, dltChain } as DltGiven, before) }; // each was read by its own parameter
}

/** The values of a preset's options. A test reads all presets. */
function presetValues(name: unknown): Readonly<Record<string, unknown>> {
  const options = PRESETS[String(name)]?.settings ?? {};
  return Object.fromEntries(
    Object.entries(CARRIER_OPTIONS).flatMap(([option, parameter]) => {
      const text = options[option];
      return text === undefined ? [] : [[option, parameter.read(text)?.value]];
    }),
  );
}

interface DltGiven {
  readonly dlt?: 'off' | Omit<CarrierDlt, 'form'> | undefined;
  readonly dltForm?: CarrierDlt['form'] | undefined;
  readonly dltChain?: string | undefined;
}

/** Form and chain that are not given stay. A chain is for the hash, so it ends with the hash's tag. */
function dltFrom({ dlt, dltForm, dltChain }: DltGiven, before: CarrierDlt | 'off'): Pick<Changes, 'dlt'> {
  const isTagged = dlt !== undefined && dlt !== 'off';
  if (!isTagged && (dltForm !== undefined || dltChain !== undefined)) {
    throw new Failure('--dlt-form and --dlt-chain need the tags: give --dlt too.');
  }
  if (!isTagged) return dlt === undefined ? {} : { dlt };
  const { form = 'octet', chain = undefined } = before === 'off' ? {} : before;
  const kept = dlt.hashTag === undefined ? undefined : chain;
  const ids = dltChain === undefined ? kept : dltChain === 'none' ? undefined : dltChain.split(',');
  return { dlt: { ...dlt, ...(ids === undefined ? {} : { chain: ids }), form: dltForm ?? form } };
}
