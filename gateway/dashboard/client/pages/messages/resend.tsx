import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { create } from '../../api/http.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { toast } from '../../parts/toast.tsx';
import { messageHref, type WholeMessage } from './message.ts';

const BEWARE: Partial<Record<WholeMessage['status'], string>> = {
  delivered: 'The first one was delivered: the recipient gets the text twice.',
  sent: 'The first one may still arrive: then the recipient gets the text twice.',
};

/** Sends the text once more, as a new message. Not what waits: it would arrive beside itself. Nor the code of a verification. */
export function Resend({ message }: { readonly message: WholeMessage }) {
  const [asked, setAsked] = useState(false);
  const { route } = useLocation();
  const { channel, direction, status, text_shown: shown, verification_id: code, message_id: id, to } = message;
  if (!may('send') || channel !== 'sms' || direction === 'in' || status === 'queued') return null;
  if (shown === 'removed' || code !== undefined) return null;
  const send = async () => {
    const sent = await create<{ message_id: string }>(`/v2/messages/${id}/resend`, {});
    toast('Sent again, as a new message.');
    route(messageHref(sent.message_id));
  };
  return (
    <>
      <Button icon="send" onClick={() => setAsked(true)}>
        Send again
      </Button>
      {asked && (
        <Confirm title={`Send it to ${to} again?`} act="Send again" onConfirm={send} onClose={() => setAsked(false)}>
          <p>
            A new message with the same text, sender and route. It is charged like any other. {BEWARE[status] ?? ''}
          </p>
        </Confirm>
      )}
    </>
  );
}
