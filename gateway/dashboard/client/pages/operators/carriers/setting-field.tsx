import { Field, Select, TextArea } from '../../../parts/field.tsx';
import { type Setting, settingName } from './carrier.ts';

/** The tags that carriers use for DLT's ids. */
export const DLT_TAGS: readonly string[] = ['off', '0x1400,0x1401', '0x1400,0x1401,0x1402'];

interface SettingFieldProps {
  readonly setting: Setting;
  /** In place of its value. */
  readonly initial?: string | undefined;
}

/** One setting of a carrier, as its table says it. */
export function SettingField({ setting, initial }: SettingFieldProps) {
  const { name, about, form, choices, value, secret } = setting;
  const words = `${about.charAt(0).toUpperCase()}${about.slice(1)}.`;
  const field = {
    name: `settings.${name}`,
    label: settingName(name),
    hint: choices === null ? `${words} It must be ${form}.` : words,
  };
  if (secret) return <TextArea {...field} hint={`${words} Paste the PEM text, or write off.`} rows={8} />;
  if (choices === null) {
    return <Field {...field} initial={initial ?? value} offers={name === 'dlt' ? DLT_TAGS : []} />;
  }
  return <Select {...field} options={choices.map((one) => [one, one] as const)} initial={initial ?? value} />;
}
