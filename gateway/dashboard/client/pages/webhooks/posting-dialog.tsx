import { patch } from '../../api/http.ts';
import { fieldProblem } from '../../api/problem.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Checkbox, Field, TextArea } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form.tsx';
import { FILTERS, type Webhook } from './webhooks.tsx';

interface PostingDialogProps {
  readonly webhook: Webhook;
  readonly path: string;
  readonly onChange: () => void;
}

/** How the events of a webhook are posted: own headers, pauses, filter. */
export function PostingDialog({ webhook, path, onChange }: PostingDialogProps) {
  const { headers, events_per_post, gather_ms, raw, filter, channel } = webhook;
  const pauses = webhook.retry_seconds.join(', ');
  const lines = (secret: boolean) =>
    headers.flatMap((one) => (one.secret === secret ? [`${one.name}: ${one.value ?? ''}`] : [])).join('\n');
  return (
    <FormDialog
      title="Change how events are posted"
      submit="Save"
      onSubmit={async (values) => {
        await patch(path, {
          headers: [...headersIn(values, 'headers', false), ...headersIn(values, 'secret_headers', true)],
          // Shown are those of all, too: as they are, they do not become its own.
          ...(values.text('retry_seconds') !== pauses && { retry_seconds: pausesIn(values) }),
          events_per_post: values.neededNumber('events_per_post'),
          gather_ms: values.neededNumber('gather_ms'),
          ...(channel === 'sms' && { raw: values.has('raw') }),
          ...(channel !== 'account' && { filter: filterIn(values) }),
        });
        onChange();
        return 'Saved.';
      }}
    >
      <TextArea
        name="headers"
        label="Own headers"
        hint="One in each line, as Name: value. They are in every post."
        initial={lines(false)}
        optional
      />
      <TextArea
        name="secret_headers"
        label="Secret headers"
        hint="The same, sealed and never shown again. A line that ends with the colon keeps its value."
        initial={lines(true)}
        optional
      />
      <Field
        name="retry_seconds"
        label="Pauses between tries"
        hint="In seconds, with commas. Empty: 5 s to 10 h, over 28 hours."
        initial={pauses}
        optional
      />
      <Field
        name="events_per_post"
        label="Events in a post"
        type="number"
        hint="1 to 100. Above 1 a post is an array, also of one event: change your server first."
        initial={String(events_per_post)}
      />
      <Field
        name="gather_ms"
        label="Wait for others (ms)"
        type="number"
        hint="How long an event waits so that others go with it: 0 to 60,000."
        initial={String(gather_ms)}
      />
      {channel === 'sms' && (
        <Checkbox
          name="raw"
          label="With the carrier's receipt"
          hint="Delivered, failed, expired and rejected have raw: the receipt's text and TLVs."
          initial={raw}
        />
      )}
      {channel !== 'account' &&
        FILTERS.map(([name, label, hint]) => (
          <Field
            key={name}
            name={`filter.${name}`}
            label={label}
            hint={hint}
            initial={filter[name]?.join(', ') ?? ''}
            optional
          />
        ))}
    </FormDialog>
  );
}

function headersIn(values: FormValues, field: string, secret: boolean) {
  return values.lines(field).map((line) => {
    const [name = '', ...rest] = line.split(':');
    const value = rest.join(':').trim();
    return { name: name.trim(), secret, ...(value !== '' && { value }) };
  });
}

function pausesIn(values: FormValues): number[] {
  const pauses = listIn(values, 'retry_seconds').map(Number);
  if (!pauses.some(Number.isNaN)) return pauses;
  const detail = 'They must be numbers, with commas between.';
  throw fieldProblem({ field: 'retry_seconds', code: 'wrong_type', detail });
}

function filterIn(values: FormValues): Webhook['filter'] {
  const given = FILTERS.map(([name]) => [name, listIn(values, `filter.${name}`)] as const);
  return Object.fromEntries(given.filter(([, some]) => some.length > 0));
}

function listIn(values: FormValues, name: string): string[] {
  return values
    .text(name)
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
