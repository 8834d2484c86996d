import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { batch, batches } from '../../../../endpoints/batches/batches.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Badge, number, Progress, Time, type Tone } from '../../parts/value.tsx';
import type { Status } from '../messages/messages.tsx';

type Counts = Readonly<Record<Exclude<Status, 'read' | 'received'>, number>>;

/** An entry of `GET /v2/batches`. Without `counts` when the page did not count it. */
export type Batch = EntryOf<typeof batches> & Partial<Pick<AnswerOf<typeof batch>, 'credits_refunded'>>;

export const BATCH_TONES: Readonly<Record<NonNullable<Batch['state']>, Tone>> = {
  processing: 'info',
  finished: 'good',
  stopping: 'warn',
  stopped: 'warn',
};

export function failedOf({ failed, expired, rejected }: Counts): number {
  return failed + expired + rejected;
}

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
          { head: 'Progress', cell: (batch) => <Left of={batch} /> },
          { head: 'Recipients', cell: ({ total }) => number(total), kind: 'number' },
          { head: 'Not delivered', cell: ({ counts }) => counts && number(failedOf(counts)), kind: 'number' },
          { head: 'Sender', cell: ({ sender }) => sender },
          { head: 'Accepted', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  );
}

/** How much of a batch has left. */
export function Left({ of: { batch_id: id, progress } }: { readonly of: Batch }) {
  if (progress === undefined) return <span class="soft">open it to count</span>;
  return <Progress part={progress} label={`Progress of ${id}`} />;
}
