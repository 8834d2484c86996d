import { useState } from 'preact/hooks';
import { Field, type FieldFrameProps } from './field.tsx';

/** What ids of the DLT platform have today. Shorter ones exist, so they are only warned of. */
const DIGITS = 19;

interface DltIdFieldProps extends FieldFrameProps {
  readonly initial?: string;
}

/** A PE id or template id, counted as it is typed: one digit too few is seen by no eye. */
export function DltIdField({ initial = '', hint, ...props }: DltIdFieldProps) {
  const [id, setId] = useState(initial);
  const digits = id.trim().length;
  const odd = digits > 0 && digits !== DIGITS;
  return (
    <Field
      {...props}
      value={id}
      onInput={setId}
      inputMode="numeric"
      mono
      hint={
        <>
          {hint}
          {odd && (
            <strong class="warn" role="status">
              {' '}
              {digits} {digits === 1 ? 'digit' : 'digits'}: ids of the DLT platform have {DIGITS}.
            </strong>
          )}
        </>
      }
    />
  );
}
