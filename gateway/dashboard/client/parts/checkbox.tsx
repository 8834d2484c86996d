import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useFieldError } from './form.tsx';
import { Words } from './words.tsx';

interface CheckboxProps {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly value?: string;
  readonly hint?: ComponentChildren;
  readonly initial?: boolean;
  /** With `onChange` the caller holds the state. */
  readonly checked?: boolean;
  readonly onChange?: (checked: boolean) => void;
}

export function Checkbox({ name, label, value = 'on', hint, initial = false, checked, onChange }: CheckboxProps) {
  const id = useId();
  return (
    <div class="checkbox">
      <input
        type="checkbox"
        id={id}
        name={name}
        value={value}
        {...(checked === undefined ? { defaultChecked: initial } : { checked })}
        onChange={(event) => onChange?.(event.currentTarget.checked)}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface CheckboxesProps {
  readonly name: string;
  readonly legend: string;
  readonly hint?: string;
  readonly options: readonly { readonly value: string; readonly label: string; readonly hint?: string }[];
  readonly initial?: readonly string[];
}

/** Several of a list. */
export function Checkboxes({ name, legend, hint, options, initial = [] }: CheckboxesProps) {
  const error = useFieldError(name);
  const id = useId();
  return (
    <fieldset class="field" aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{legend}</legend>
      {hint && <p class="hint">{hint}</p>}
      {options.map((option) => (
        <Checkbox
          key={option.value}
          name={name}
          value={option.value}
          label={<Words text={option.label} />}
          hint={option.hint && <Words text={option.hint} />}
          initial={initial.includes(option.value)}
        />
      ))}
      {error && (
        <p class="error" id={`${id}-error`}>
          <Words text={error} />
        </p>
      )}
    </fieldset>
  );
}
