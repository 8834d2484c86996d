import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { TextArea } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { Card } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { ChatTemplateFields, chatTemplateOf } from '../send/chat-template-fields.tsx';
import type { Customer } from './customer.ts';
import { isOpen } from './session-badge.tsx';

interface AnswerProps {
  readonly customer: Customer;
  readonly onSent: () => void;
}

/** A box to write to the customer; outside the session a template. */
export function Answer({ customer, onSent }: AnswerProps) {
  const [text, setText] = useState('');
  if (!isOpen(customer)) {
    return (
      <Card
        title="Send a template"
        lead="The session is closed: more than 24 hours have passed since the customer wrote."
      >
        <TemplateForm to={customer.to} onSent={onSent} />
      </Card>
    );
  }
  const send = async () => {
    await create('/v2/chatapp/send-text', { to: customer.to, message: text });
    setText((now) => (now === text ? '' : now)); // The user may have gone on writing meanwhile.
    toast('Answer sent.');
    onSent();
  };
  return (
    <Card title="Answer">
      <Form submit="Send answer" onSubmit={send} sendsAgain>
        <TextArea name="message" label="Your answer" rows={3} value={text} onInput={setText} />
      </Form>
    </Card>
  );
}

interface TemplateFormProps {
  readonly to: string;
  readonly onSent: () => void;
}

/** Sends an approved template with its values. */
function TemplateForm({ to, onSent }: TemplateFormProps) {
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
