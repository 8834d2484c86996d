import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { Button } from '../../parts/button.tsx';
import { useChatNumbers } from '../../parts/chat-numbers.ts';
import { TextArea } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { Card } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { ChatTemplateFields, chatTemplateOf } from '../send/chat-template-fields.tsx';
import { inWords } from './bubble.tsx';
import { type Customer, type InboxMessage, ourNumberOf } from './customer.ts';
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
        <TemplateForm customer={customer} onSent={onSent} />
      </Card>
    );
  }
  const send = async () => {
    const from = quoted ? ourNumberOf(quoted) : customer.number;
    await create('/v2/chatapp/send-text', {
      ...{ to: customer.to, message: text },
      ...(from !== null && { from }),
      ...(quoted && { reply_to: quoted.message_id }),
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

/** Sends an approved template with its values, from the number that the customer wrote to if the account still has it. */
function TemplateForm({ customer: { to, number: written }, onSent }: Pick<AnswerProps, 'customer' | 'onSent'>) {
  const [sent, setSent] = useState(0);
  const numbers = useChatNumbers();
  const { number: from, business_id: business } = numbers.find(({ number }) => number === written) ?? numbers[0] ?? {};
  const send = async (values: FormValues) => {
    await create('/v2/chatapp/send', { to, ...(from !== undefined && { from }), ...chatTemplateOf(values) });
    setSent((count) => count + 1);
    toast('Template sent.');
    onSent();
  };
  return (
    <Form submit="Send template" onSubmit={send} sendsAgain>
      <ChatTemplateFields business={business} sent={sent} />
    </Form>
  );
}
