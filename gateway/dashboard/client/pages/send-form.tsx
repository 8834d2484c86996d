import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiProblem, create, type FieldError, fieldProblem, post } from '../api/http.ts';
import { Form, FormValues } from '../parts/form.tsx';
import { Card, Notice, PageHead, Tabs } from '../parts/page.tsx';
import { Badge, Button, CodeBlock, counted, type Fact, Facts, number, Time } from '../parts/value.tsx';
import { useFollowedMessage } from './message.tsx';
import { type Message, messageHref, STATUS_TONES } from './messages.tsx';
import type { Content } from './send-fields.tsx';

interface DryRun {
  readonly credits_required: number;
  /** SMS only, like the next two. */
  readonly segments?: number;
  readonly encoding?: 'GSM7' | 'UCS2';
  readonly template_id?: string | null;
  /** About the SMS that is sent if a chat-app message does not arrive. */
  readonly predicted_refusals?: readonly {
    readonly scrub_code: string;
    readonly cause: string;
    readonly advice: string;
  }[];
  readonly fallback?: Pick<DryRun, 'credits_required' | 'segments' | 'encoding'>;
  readonly total?: number;
  readonly duplicates?: number;
  readonly skipped?: number;
  readonly scheduled_for?: string;
  readonly deferred_until?: string;
}

/** Exactly one of the ids is present. */
interface Accepted {
  readonly message_id?: string;
  readonly batch_id?: string;
  readonly schedule_id?: string;
  readonly deferred_until?: string;
}

interface SendFormProps {
  /** The API path, unless it is a schedule. */
  readonly path: string;
  readonly bodyOf: (values: FormValues) => Content;
  /** A DLT template's name by its id. */
  readonly nameOf?: (templateId: string) => string | undefined;
  readonly onDone: (accepted: Accepted) => void;
  /** Maps an error to the form's own fields and line numbers. */
  readonly placed?: (error: FieldError, body: Content) => FieldError;
  /** A mistake that the gateway cannot see. */
  readonly faultOf?: (values: FormValues) => FieldError | undefined;
  readonly children: ComponentChildren;
}

/** `{{name}}` or `{#var#}`. The gateway would send a text without a template as it is, braces included. */
const PLACEHOLDER = /\{\{[^{}]{1,40}\}\}|\{#[^{}]{1,40}#\}/;

interface SendPageProps extends Omit<SendFormProps, 'onDone'> {
  readonly title: string;
  readonly lead: string;
}

export function SendPage({ title, lead, ...form }: SendPageProps) {
  const [accepted, setAccepted] = useState<Accepted>();
  return (
    <>
      <PageHead title={title} lead={lead} />
      <Tabs label="Send by" tabs={TABS} />
      {accepted ? (
        <Sent accepted={accepted} again={() => setAccepted(undefined)} />
      ) : (
        <SendForm {...form} onDone={setAccepted} />
      )}
    </>
  );
}

const TABS = [
  { href: '/dashboard/send', label: 'SMS to one' },
  { href: '/dashboard/send/many', label: 'SMS to many' },
  { href: '/dashboard/send/chatapp', label: 'Chat-app' },
] as const;

/** A dry run first, then sending exactly what was checked. Price and curl are shown beside it. */
function SendForm({ path, bodyOf, nameOf, onDone, placed, faultOf, children }: SendFormProps) {
  const [body, setBody] = useState<Content>();
  const [checked, setChecked] = useState<{ readonly body: string; readonly says: DryRun }>();
  const isChecked = checked !== undefined && checked.body === JSON.stringify(body);
  const pathOf = (of: Content | undefined) => (of?.schedule_time === undefined ? path : '/v2/schedule');
  const check = async (values: FormValues) => {
    const now = bodyOf(values);
    setBody(now);
    setChecked(undefined);
    const fault = faultOf?.(values);
    if (fault !== undefined) throw fieldProblem(fault);
    try {
      const says = await post<DryRun>(pathOf(now), { ...now, dry_run: true });
      setChecked({ body: JSON.stringify(now), says });
    } catch (error) {
      if (!(error instanceof ApiProblem) || placed === undefined) throw error;
      throw new ApiProblem(error.status, { ...error.body, errors: error.errors.map((one) => placed(one, now)) });
    }
  };
  const send = async (values: FormValues) => {
    const now = bodyOf(values);
    if (checked?.body !== JSON.stringify(now)) return check(values);
    onDone(await create<Accepted>(pathOf(now), now));
  };
  const changed = (event: Event) => {
    const form = event.target instanceof HTMLElement ? event.target.closest('form') : null;
    if (form === null) return;
    try {
      setBody(bodyOf(new FormValues(form)));
    } catch {
      setBody(undefined); // Not a number yet, such as "-" before "-3". The check reports it.
    }
  };
  const says = isChecked ? checked.says : undefined;
  const placeholder = body?.message?.match(PLACEHOLDER)?.[0];
  return (
    <div class="columns">
      <Card title="Message">
        {/* Two buttons, so that a double click or Enter on "Check" cannot send. */}
        <Form
          submit="Check"
          look={says === undefined ? 'primary' : 'plain'}
          onSubmit={check}
          next={says && { words: `Send for ${creditsOf(says.credits_required)}`, act: send }}
        >
          <div class="stack" onInput={changed} onChange={changed}>
            {children}
          </div>
        </Form>
      </Card>
      <div class="stack" aria-live="polite">
        {says && (
          <Card title="Checked" lead="Nothing was sent yet. Press Send to send it like this.">
            <Facts facts={factsOf(says, nameOf)} />
            {says.predicted_refusals?.map(({ scrub_code, cause, advice }) => (
              <Notice tone="warn" key={`${scrub_code} ${cause}`}>
                {cause} {advice}
              </Notice>
            ))}
            {placeholder && (
              <Notice tone="warn">
                {placeholder} goes out as it is written. Choose a template to fill in a value for each recipient.
              </Notice>
            )}
          </Card>
        )}
        {body && (
          <Card title="The same by the API">
            <CodeBlock label="curl" text={curlOf(pathOf(body), shortened(body))} />
          </Card>
        )}
      </div>
    </div>
  );
}

function creditsOf(credits: number): string {
  return counted(credits, 'credit');
}

function factsOf(says: DryRun, nameOf: SendFormProps['nameOf'] = () => undefined): readonly Fact[] {
  const { segments, encoding, template_id: template, total, duplicates, skipped, scheduled_for: time, fallback } = says;
  const { deferred_until: until } = says;
  return [
    ['Price', creditsOf(says.credits_required)],
    ['Segments', segments && `${segments}, ${encoding === 'GSM7' ? 'GSM-7' : 'Unicode'}`],
    ['Template', template === null ? 'none needed' : template && `${nameOf(template) ?? ''} ${template}`],
    [
      'If the SMS goes',
      fallback && `${creditsOf(fallback.credits_required)}, ${counted(fallback.segments ?? 1, 'segment')}`,
    ],
    ['Recipients', total && number(total)],
    ['Equal entries left out', duplicates],
    ['Opted out, left out', skipped],
    ['Sent at', time && <Time at={time} full />],
    ['Waits for promotional hours or daytime until', until && <Time at={until} full />],
  ];
}

/** Recipients shown in the curl command. */
const SHOWN = 3;

function shortened(body: Content): object {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const isLong = (name === 'to' || name === 'recipients') && Array.isArray(value) && value.length > SHOWN;
      return [name, isLong ? [...value.slice(0, SHOWN), `… ${value.length - SHOWN} more`] : value];
    }),
  );
}

function curlOf(path: string, body: object): string {
  const json = JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`);
  return `curl -s ${location.origin}${path} -H "Authorization: Bearer $HARKARA_KEY" -H 'Content-Type: application/json' \\\n  -d '${json}'`;
}

interface SentProps {
  readonly accepted: Accepted;
  readonly again: () => void;
}

/** Shows what became of what was just sent; follows a single message's state. */
function Sent({ accepted, again }: SentProps) {
  const { message_id: message, batch_id: batch, schedule_id: schedule } = accepted;
  return (
    <Notice tone="good">
      {message !== undefined && <FollowedMessage id={message} />}
      {batch !== undefined && (
        <p>
          Accepted. <a href={`/dashboard/batches/${batch}`}>Follow the batch</a>
        </p>
      )}
      {schedule !== undefined && (
        <p>
          Booked. <a href="/dashboard/schedules">See what waits</a>
        </p>
      )}
      {accepted.deferred_until && (
        <p>
          It waits until <Time at={accepted.deferred_until} full />: for the promotional hours, or the recipient's
          daytime.
        </p>
      )}
      <Button onClick={again}>Send another</Button>
    </Notice>
  );
}

function FollowedMessage({ id }: { readonly id: string }) {
  const status = useFollowedMessage<Message>(`/v2/status/${id}`, id).data?.status ?? 'queued';
  return (
    <p>
      Accepted. <a href={messageHref(id)}>Its timeline</a> <Badge tone={STATUS_TONES[status]}>{status}</Badge>
    </p>
  );
}
