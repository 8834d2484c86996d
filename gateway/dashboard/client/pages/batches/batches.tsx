import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { number } from '../../parts/number.ts';
import { PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { BATCH_TONES, type Batch, failedOf } from './batch.ts';
import { Progress } from './progress.tsx';

/** All bulk requests. */
export function BatchesPage() {
  const list = usePages<Batch>('/v2/batches', { limit: 20 });
  const send = may('send') && <LinkButton href="/dashboard/send/many">Send to many</LinkButton>;
  return (
    <>
      <PageHead title="Batches" lead="One text to many recipients: how far each is." actions={send} />
      <PagedTable
        list={list}
        caption="Batches"
        rowKey={({ batch_id }) => batch_id}
        empty={
          <Empty icon="batches" action={send}>
            No batches yet. Send one text to many recipients.
          </Empty>
        }
        columns={[
          {
            head: 'Batch',
            cell: ({ batch_id, reference }) => <a href={`/dashboard/batches/${batch_id}`}>{reference ?? batch_id}</a>,
          },
          { head: 'Status', cell: ({ state }) => state && <Badge tone={BATCH_TONES[state]}>{state}</Badge> },
          { head: 'Progress', cell: (batch) => <Progress batch={batch} /> },
          { head: 'Recipients', cell: ({ total }) => number(total), kind: 'number' },
          { head: 'Not delivered', cell: ({ counts }) => counts && number(failedOf(counts)), kind: 'number' },
          { head: 'Sender', cell: ({ sender }) => sender },
          { head: 'Accepted', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  );
}
