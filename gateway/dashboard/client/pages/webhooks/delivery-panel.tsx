import { post } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { mayAny } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock, CopyId } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { number } from '../../parts/number.ts';
import { Loading } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { toast, toastProblem } from '../../parts/toast.tsx';
import { DELIVERY_STATES, type Webhook, type WholeDelivery } from './webhook.ts';

interface DeliveryPanelProps {
  readonly webhook: Webhook;
  /** The webhook's, as a path of the API. */
  readonly path: string;
  readonly eventId: string;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One event: what was posted, and what was answered each time. */
export function DeliveryPanel({ webhook, path, eventId, onClose, onChange }: DeliveryPanelProps) {
  const own = `${path}/deliveries/${eventId}`;
  const delivery = useLoad<WholeDelivery>(own);
  const replay = async () => {
    await post(`${own}/replay`);
    delivery.reload();
    onChange();
    toast('The event is posted again.');
  };
  return (
    <Dialog title="Delivery" side="right" onClose={onClose}>
      <Loading of={delivery}>
        {(data) => (
          <>
            <DeliveryFacts of={data} />
            {mayAny('manage', 'admin:support') && data.state !== 'due' && data.state !== 'waiting' && (
              <div class="acts">
                <Button onClick={() => replay().catch(toastProblem)}>Post again</Button>
              </div>
            )}
            <h3>Posted</h3>
            <CodeBlock text={data.body} label="posted body" />
            <h3>The same as curl</h3>
            <CodeBlock text={curlOf(webhook.url, data)} label="curl" />
            <h3>Attempts</h3>
            <Attempts of={data} />
          </>
        )}
      </Loading>
    </Dialog>
  );
}

function DeliveryFacts({ of }: { readonly of: WholeDelivery }) {
  const { words, tone } = DELIVERY_STATES[of.state];
  const message = of.message_id && <a href={`/dashboard/messages/${of.message_id}`}>{of.message_id}</a>;
  return (
    <Facts
      facts={[
        ['Event', of.event],
        ['Status', <Badge tone={tone}>{words}</Badge>],
        ['webhook-id', <CopyId id={of.event_id} />],
        ['Message', message ?? '–'],
        ['Stored', <Time at={of.created_at} full />],
        ...(of.next_try_at === null ? [] : [['Next try', <Time at={of.next_try_at} />] as const]),
        ...(of.replayed_at === null ? [] : [['Replayed', <Time at={of.replayed_at} full />] as const]),
      ]}
    />
  );
}

function Attempts({ of }: { readonly of: WholeDelivery }) {
  if (of.attempts.length === 0) return <p class="soft">None yet.</p>;
  return (
    <ol class="stack">
      {of.attempts.map((attempt, index) => (
        <li key={attempt.at}>
          <Time at={attempt.at} full="seconds" /> · <strong>{attempt.result}</strong> · {number(attempt.duration_ms)} ms
          · {attempt.reason}
          {attempt.answer && <CodeBlock text={attempt.answer} label={`answer ${index + 1}`} />}
        </li>
      ))}
    </ol>
  );
}

/** Without the signature: only we and your server have the secret. */
function curlOf(url: string, { event_id, body }: WholeDelivery): string {
  const quoted = body.replaceAll("'", "'\\''");
  return `curl -X POST '${url}' -H 'Content-Type: application/json' \\\n  -H 'webhook-id: ${event_id}' -d '${quoted}'`;
}
