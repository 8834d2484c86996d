import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { toast } from '../../parts/toast.tsx';
import { ChatTemplateFields, chatTemplateOf } from '../send/chat-template-fields.tsx';

interface TemplateFormProps {
  readonly to: string;
  readonly onSent: () => void;
}

/** Sends an approved template with its values. */
export function TemplateForm({ to, onSent }: TemplateFormProps) {
  const [sent, setSent] = useState(0);
  const send = async (values: FormValues) => {
    await create('/v2/chatapp/send', { to, ...chatTemplateOf(values) });
    setSent((count) => count + 1);
    toast('Template sent.');
    onSent();
  };
  return (
    <Form submit="Send template" onSubmit={send} sendsAgain>
      <ChatTemplateFields sent={sent} />
    </Form>
  );
}
