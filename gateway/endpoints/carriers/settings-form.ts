import { z } from 'zod';
import type { CarrierDlt, CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { CarrierInput } from '../../../shared/carriers/carrier-form.ts';
import { leadsPassword } from '../../../shared/carriers/carrier-secrets.ts';
import { BASICS, REQUIRED } from '../../../shared/carriers/settings/basics.ts';
import {
  listOf,
  matching,
  oneOf,
  type Setting,
  type Settings,
  type Shape,
  setting,
  withDefaults,
} from '../../../shared/carriers/settings/setting.ts';
import { GROUP_NAMES, GROUPS, isSmppOnly } from '../../../shared/carriers/settings/table.ts';
import type { Shown } from '../../api/endpoint.ts';
import { flag, named, text } from '../../api/shapes.ts';
import type { JsonObject } from '../../http/context.ts';
import { type FieldProblems, refuseUnknown, wrongType } from '../../http/field-problems.ts';
import { PRESETS } from './presets.ts';

/** DLT ids as three settings of one text each. The carrier's document has one field, because they go together. */

type Tags = readonly number[];

const hex = (tag: number): string => `0x${tag.toString(16).padStart(4, '0')}`;

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

const DLT = {
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

function dltValues(stored: CarrierDlt | 'off' = 'off'): DltValues {
  if (stored === 'off') return { dlt: [], dltForm: 'octet', dltChain: [] };
  const { entityTag, templateTag, hashTag, form, chain = [] } = stored;
  return { dlt: [entityTag, templateTag, ...(hashTag === undefined ? [] : [hashTag])], dltForm: form, dltChain: chain };
}

/** Settings not given stay, but the chain goes with the hash's tag. Returns a text if something is wrong. */
function dltWith(given: Partial<DltValues>, stored: CarrierDlt | 'off' = 'off'): CarrierDlt | 'off' | string {
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

export const CarrierSetting = named('CarrierSetting', 'A setting of carriers: its form and meaning.', {
  name: text(undefined, { example: 'windowSize' }),
  group: text(undefined, { example: 'basics' }),
  about: text(undefined, { example: 'unanswered submit_sm per bind' }),
  form: text('What a value must be.', { example: '1 to 10000' }),
  value: text(undefined, { example: '50' }),
  default: text(undefined, { example: '50' }).nullable(),
  choices: z.array(text()).meta({ description: 'The values, if there are few.' }).nullable(),
  is_set: flag(),
  secret: flag('It is a certificate or key: `value` says only what may be shown. Send the PEM text, or `off`.'),
  needs_password: flag('It decides where the password is sent: a change of it needs `password` in the same request.'),
  smpp_only: flag('A carrier of the kind `http` has no use for it.'),
});

/** A carrier's settings as a form of texts, as `ops carrier` takes them, made from shared/carriers/settings. */
interface FormGroup {
  readonly name: string;
  readonly settings: Settings;
  values(carrier: Partial<CarrierDocument>): Readonly<Record<string, unknown>>;
}

/** Settings without a default are explained here, because their tables have only shapes. */
const ABOUT: Readonly<Record<keyof typeof REQUIRED, string>> = {
  host: 'where its SMSC, or its HTTP API, is',
  port: 'its port',
  systemId: 'system_id of the bind, or user name of the HTTP API',
};

const CONNECTION: Settings = Object.fromEntries(
  Object.entries(REQUIRED).map(([name, shape]) => [
    name,
    { ...(shape as Shape<unknown>), about: ABOUT[name as keyof typeof REQUIRED], standard: undefined },
  ]),
);

const FORM: readonly FormGroup[] = [
  { name: 'connection', settings: CONNECTION, values: (carrier) => ({ ...carrier }) },
  { name: 'basics', settings: BASICS, values: (carrier) => ({ ...withDefaults(BASICS as Settings, { ...carrier }) }) },
  { name: 'dlt', settings: DLT, values: ({ dlt }) => ({ ...dltValues(dlt) }) },
  ...GROUP_NAMES.map((name) => ({
    name,
    settings: GROUPS[name] as Settings,
    values: (carrier: Partial<CarrierDocument>) => ({
      ...withDefaults(GROUPS[name] as Settings, { ...carrier[name] }),
    }),
  })),
];

/** Every setting as text. Certificates and keys only as far as they may be shown. Without a carrier: an empty form. */
export function settingsForm(carrier: Partial<CarrierDocument> = {}): readonly Shown<typeof CarrierSetting>[] {
  return FORM.flatMap(({ name: group, settings, values }) => {
    const all = values(carrier);
    return Object.entries(settings).map(([name, one]) => settingRecord(group, name, one, all[name]));
  });
}

function settingRecord(
  group: string,
  name: string,
  one: Setting<unknown>,
  value: unknown,
): Shown<typeof CarrierSetting> {
  const shown = value === undefined ? '' : one.show(value);
  const standard = one.standard === undefined ? null : one.show(one.standard);
  const choices = /^[a-z0-9_.]+(\|[a-z0-9_.]+)+$/i.test(one.value) ? one.value.split('|') : null;
  return {
    ...{ name, group, about: one.about, form: one.form, value: shown, default: standard },
    ...{ choices, is_set: shown !== standard, secret: one.file === true },
    ...{ needs_password: leadsPassword(name), smpp_only: isSmppOnly(name) },
  };
}

type Changes = Partial<Omit<CarrierInput, '_id'>>;

/**
 * Reads changed settings: `{windowSize: '50'}`. Problems name the setting and the right form. Given values override the
 * preset. `stored` supplies the missing ones where several settings make one value.
 */
export function readSettings(
  given: JsonObject,
  problems: FieldProblems,
  {
    preset,
    stored,
  }: { readonly preset?: string | undefined; readonly stored?: Partial<CarrierDocument> | undefined } = {},
): Changes {
  const place = 'settings.';
  refuseUnknown(
    Object.keys(given),
    FORM.flatMap(({ settings }) => Object.keys(settings)),
    problems,
    place,
  );
  const texts = { ...(preset !== undefined && PRESETS[preset]?.settings), ...given };
  const changes: Record<string, unknown> = {};
  for (const { name: group, settings } of FORM) {
    const values: Record<string, unknown> = {};
    for (const [name, one] of Object.entries(settings)) {
      const value = Object.hasOwn(texts, name) ? readOne(one, texts[name], place + name, problems) : undefined;
      if (value !== undefined) values[name] = value;
    }
    if (Object.keys(values).length === 0) continue;
    if (group === 'connection' || group === 'basics') Object.assign(changes, values);
    else if (group === 'dlt') {
      const dlt = dltWith(values, stored?.dlt);
      if (typeof dlt === 'string' && dlt !== 'off') problems.add(`${place}dlt`, 'missing_field', dlt);
      else changes.dlt = dlt;
    } else changes[group] = values;
  }
  return changes;
}

function readOne(one: Setting<unknown>, text: unknown, name: string, problems: FieldProblems): unknown {
  if (typeof text !== 'string') return problems.add(name, 'wrong_type', `It must be a string, not ${wrongType(text)}.`);
  const value = one.file && text === 'off' ? '' : one.parse(text);
  return value === undefined ? problems.add(name, 'invalid_value', `It must be ${one.form}.`) : value;
}
