import { Field } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import type { Limits } from '../limits/limits.ts';

/** Of an account and of a route: when SMS may leave, by the recipient's clock. */
export function DaytimeFields({ daytime }: Pick<Limits, 'daytime'>) {
  return (
    <fieldset class="field">
      <legend>Daytime of recipients</legend>
      <p class="hint">
        SMS wait outside these hours of the recipient's country, in all of its time zones. OTP are not held. Empty: at
        any time.
      </p>
      <Field name="daytime.from" label="From" optional type="time" initial={daytime?.from ?? ''} />
      <Field name="daytime.to" label="Until" optional type="time" initial={daytime?.to ?? ''} />
      <Field
        name="daytime.countries"
        label="Only recipients in these countries"
        optional
        initial={daytime?.countries?.join(', ') ?? ''}
        hint="Two letters each: IN, AE. Empty: all."
      />
    </fieldset>
  );
}

/** As a member of the request. Hours of which one is missing are asked for, so that the answer says so. */
export function daytimeOf(values: FormValues) {
  const [from, to] = [values.optional('daytime.from'), values.optional('daytime.to')];
  if (from === undefined && to === undefined) return {};
  const countries = countriesIn(values.text('daytime.countries'));
  return { daytime: { from, to, ...(countries.length > 0 && { countries }) } };
}

export function countriesIn(text: string): string[] {
  return text
    .toUpperCase()
    .split(/[^A-Z]+/)
    .filter(Boolean);
}
