import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { Card } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { ChatTemplateFields, chatTemplateOf } from '../send/chat-template-fields.tsx';
import { inWords } from './bubble.tsx';
import type { Customer, InboxMessage } from './customer.ts';
import { isOpen } from './session-badge.tsx';

interface AnswerProps {
  readonly customer: Customer;
  /** The message that is answered, if one was chosen. */
  readonly quoted?: InboxMessage | undefined;
  readonly onUnquote: () => void;
  readonly onSent: () => void;
}

/** A box to write to the customer; outside the session a template. */
export function Answer({ customer, quoted, onUnquote, onSent }: AnswerProps) {
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
    const reply = quoted && { reply_to: quoted.message_id };
    await create('/v2/chatapp/send-text', {
      ...{ to: customer.to, message: text, ...reply },
      ...(customer.number !== null && { from: customer.number }),
    });
    setText((now) => (now === text ? '' : now)); // The user may have gone on writing meanwhile.
    toast('Answer sent.');
    onUnquote();
    onSent();
  };
  return (
    <Card title="Answer">
      {quoted && (
        <p class="quoted">
          Answers “{inWords(quoted)}”{' '}
          <Button look="quiet" onClick={onUnquote}>
            Answer without it
          </Button>
        </p>
      )}
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
