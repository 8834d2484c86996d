import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { Empty } from '../../parts/empty.tsx';
import { Select, TextArea } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { Loading } from '../../parts/page.tsx';
import { templateValues } from '../../parts/template-values.ts';
import { toast } from '../../parts/toast.tsx';

interface Templates {
  readonly templates: readonly { readonly name: string; readonly language: string; readonly status: string }[];
}

interface TemplateFormProps {
  readonly to: string;
  readonly onSent: () => void;
}

/** Sends an approved template with its values. Which values are missing is said by the gateway. */
export function TemplateForm({ to, onSent }: TemplateFormProps) {
  const [sent, setSent] = useState(0);
  const list = useLoad<Templates>('/v2/chatapp/templates');
  const send = async (values: FormValues) => {
    const [template = '', language = ''] = values.text('template').split(' ');
    const params = templateValues(values.exact('params'));
    await create('/v2/chatapp/send', { to, template, language, params });
    setSent((count) => count + 1);
    toast('Template sent.');
    onSent();
  };
  return (
    <Loading of={list}>
      {({ templates }) => {
        const approved = templates.filter(({ status }) => status === 'approved');
        if (approved.length === 0) return <Empty icon="template">No template is approved yet.</Empty>;
        return (
          <Form submit="Send template" onSubmit={send} sendsAgain>
            <Select
              name="template"
              label="Template"
              options={approved.map(({ name, language }) => [`${name} ${language}`, `${name} (${language})`])}
            />
            <TextArea
              key={sent} // The values of one message are not those of the next.
              name="params"
              label="Values"
              hint="One on each line, in the order of the template."
              rows={3}
              optional
            />
          </Form>
        );
      }}
    </Loading>
  );
}
