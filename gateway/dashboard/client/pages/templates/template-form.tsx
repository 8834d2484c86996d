import { useEffect, useState } from 'preact/hooks';
import { create, patch, post } from '../../api/http.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { DltIdField, Field, Select, TextArea } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form.tsx';
import { counted, number } from '../../parts/value.tsx';
import { useOwnSenders } from '../senders/senders.tsx';
import { Phone } from './chat-template.tsx';
import { CATEGORIES, TEMPLATES_PATH, type Template, type TemplateCheck } from './template.tsx';

interface TemplateFormProps {
  /** A rejected one that is edited. */
  readonly of?: Template;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Asks for a template, or for a rejected one in another form. The text is checked as it is typed. */
export function TemplateForm({ of, onClose, onDone }: TemplateFormProps) {
  const [content, setContent] = useState(of?.content ?? '');
  const [senders, setSenders] = useState<string>();
  const own = useOwnSenders();
  const [only, ...others] = own;
  const send = async (values: FormValues) => {
    const text = {
      name: values.optional('name'),
      senders: values
        .text('senders')
        .split(/[\s,]+/)
        .filter(Boolean),
      category: values.text('category'),
      content: values.exact('content'),
    };
    if (of === undefined) await create(TEMPLATES_PATH, { ...text, dlt_id: values.optional('dlt_id') });
    else await patch(`${TEMPLATES_PATH}/${of.template_id}`, text);
    onDone();
    return of === undefined ? 'Template requested.' : 'Template sent again.';
  };
  return (
    <FormDialog
      title={of === undefined ? 'Request a DLT template' : `Edit ${of.name}`}
      side="right"
      onClose={onClose}
      submit={of === undefined ? 'Request template' : 'Edit and resend'}
      onSubmit={send}
    >
      <Field
        name="senders"
        label="Senders"
        hint="The headers of the DLT platform, such as HARKRA. Several with commas."
        value={senders ?? of?.senders.join(', ') ?? (others.length === 0 ? only?.sender : undefined) ?? ''}
        onInput={setSenders}
        offers={own.map(({ sender }) => sender)}
      />
      <Select
        name="category"
        label="Category"
        options={CATEGORIES}
        initial={of?.category ?? 'service_implicit'}
        hint="The one that the DLT platform shows."
      />
      <TextArea
        name="content"
        label="Text"
        rows={5}
        value={content}
        onInput={setContent}
        hint="Exactly as on the DLT platform. What changes is a slot: {#var#}, {#numeric#}, {#url#} …"
      />
      <CheckResult content={content} />
      <Field name="name" label="Name" optional hint="For your people." initial={of?.name ?? ''} />
      {of === undefined && (
        <DltIdField
          name="dlt_id"
          label="DLT template id"
          optional
          hint="If the platform has not given it yet, add it later."
        />
      )}
      <Phone title="SMS" body={content.replaceAll(/\{#\w+#\}/g, '▁▁▁▁')} />
    </FormDialog>
  );
}

/** Typing goes on; the text is checked when it rests. */
const REST_MS = 300;

/** What a text would be as a template, said again whenever the typing rests. */
function CheckResult({ content }: { readonly content: string }) {
  const [check, setCheck] = useState<TemplateCheck>();
  useEffect(() => {
    if (content === '') {
      setCheck(undefined);
      return;
    }
    let over = false;
    const timer = setTimeout(() => {
      post<TemplateCheck>(`${TEMPLATES_PATH}/check`, { content }).then(
        (found) => {
          if (!over) setCheck(found);
        },
        () => {}, // The request itself says what is wrong.
      );
    }, REST_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [content]);
  return (
    <div class="check" role="status">
      {check === undefined ? (
        <span class="soft">Slots and segments are counted as you type.</span>
      ) : (
        <Found of={check} />
      )}
    </div>
  );
}

function Found({ of }: { readonly of: TemplateCheck }) {
  const { shortest, longest } = of.segments;
  const segments = shortest === longest ? number(shortest) : `${shortest} to ${longest}`;
  return (
    <>
      <p>
        {number(of.characters)}/2,000 characters · {of.encoding} · {segments} segment{longest === 1 ? '' : 's'} ·{' '}
        {counted(of.slots.length, 'slot')}
      </p>
      {of.slots.map(({ takes, longest: most }, i) => (
        <p class="soft" key={i}>
          Slot {i + 1}: {takes}, at most {most} characters
        </p>
      ))}
      {of.problems.map(({ at, detail }) => (
        <p class="error" key={`${at} ${detail}`}>
          {detail}
        </p>
      ))}
    </>
  );
}
