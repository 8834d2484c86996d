import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Time } from '../../parts/time.tsx';
import { useFollowedMessage } from '../messages/followed-message.ts';
import { type Message, messageHref, STATUS_TONES } from '../messages/message.ts';
import type { Accepted } from './send-form.tsx';

interface SentProps {
  readonly accepted: Accepted;
  readonly again: () => void;
}

/** What became of what was just sent: it follows a message's state. */
export function Sent({ accepted, again }: SentProps) {
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
