import { Checkboxes } from '../../parts/checkbox.tsx';
import { Field, TextArea } from '../../parts/field.tsx';
import { type Key, SCOPES } from './key.ts';

/** As the field has it. */
export const USUAL_RATE = '1000';
const FIRST_SCOPES = ['send', 'read'];

/** What a new key and a changed key have in common. */
export function KeyFields({ of }: { readonly of?: Key }) {
  return (
    <>
      <Field
        name="name"
        label="Name"
        hint="What uses it, for people: shop server."
        {...(of === undefined ? {} : { initial: of.name })}
      />
      <Checkboxes name="scopes" legend="It may" options={SCOPES} initial={of?.scopes ?? FIRST_SCOPES} />
      <TextArea
        name="allowed_ips"
        label="Allowed addresses"
        optional
        rows={3}
        hint="One address or subnet a line, such as 203.0.113.7 or 198.51.100.0/24. Empty: from everywhere."
        {...(of === undefined ? {} : { initial: (of.allowed_ips ?? []).join('\n') })}
      />
      <Field
        name="per_minute"
        label="Requests a minute"
        inputMode="numeric"
        initial={String(of?.per_minute ?? USUAL_RATE)}
        hint="More are refused with 429 until the minute is over."
      />
    </>
  );
}
