import { useEffect, useRef } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { batch, batches } from '../../../endpoints/batches/batches.ts';
import type { batchFailures } from '../../../endpoints/batches/failures.ts';
import { remove } from '../api/http.ts';
import { useLoad, usePages, useReadAgain } from '../api/load.ts';
import { may } from '../api/session.ts';
import { Confirm, useDialog } from '../parts/form.tsx';
import { ListPage, PagedTable } from '../parts/list.tsx';
import { Card, Empty, Loading, PageHead, type PageProps } from '../parts/page.tsx';
import {
  Badge,
  Button,
  CopyId,
  Facts,
  LinkButton,
  number,
  Progress,
  Stat,
  Stats,
  Time,
  type Tone,
  Words,
} from '../parts/value.tsx';
import { messageHref, type Status } from './messages.tsx';

type Counts = Readonly<Record<Exclude<Status, 'read' | 'received'>, number>>;

/** Lists leave `counts` out. */
export type Batch = EntryOf<typeof batches> & Partial<Pick<AnswerOf<typeof batch>, 'credits_refunded'>>;

const BATCH_TONES: Readonly<Record<NonNullable<Batch['state']>, Tone>> = {
  processing: 'info',
  finished: 'good',
  stopping: 'warn',
  stopped: 'warn',
};

function failedOf({ failed, expired, rejected }: Counts): number {
  return failed + expired + rejected;
}

export function BatchesPage() {
  return (
    <ListPage
      title="Batches"
      lead="One text to many recipients: how far each is."
      next={may('send') && <LinkButton href="/dashboard/send/many">Send to many</LinkButton>}
      list={usePages<Batch>('/v2/batches', { limit: 20 })}
      rowKey={({ batch_id }) => batch_id}
      icon="batches"
      empty="No batches yet. Send one text to many recipients."
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
  );
}

function Left({ of: { batch_id: id, progress } }: { readonly of: Batch }) {
  if (progress === undefined) return <span class="soft">open it to count</span>;
  return <Progress part={progress} label={`Progress of ${id}`} />;
}

export function BatchPage({ params }: PageProps) {
  const path = `/v2/batches/${encodeURIComponent(params.batch_id ?? '')}`;
  const batch = useLoad<Batch>(path);
  useReadAgain(batch, isOpen);
  const [dialog, open] = useDialog();
  const stop = () =>
    open(
      <Confirm
        title="Stop this batch?"
        act="Stop batch"
        onConfirm={async () => {
          const { message } = await remove<{ readonly message: string }>(path);
          batch.reload();
          return message;
        }}
      >
        Messages that have not left are not sent any more and are refunded. What has left cannot be called back.
      </Confirm>,
    );
  const mayStop = may('send') && batch.data?.state === 'processing';
  return (
    <>
      <PageHead
        title="Batch"
        lead={<CopyId id={params.batch_id ?? ''} />}
        back={{ href: '/dashboard/batches', label: 'Batches' }}
        actions={mayStop && <Button onClick={stop}>Stop batch</Button>}
      />
      <Loading of={batch}>{(data) => <Whole batch={data} path={path} />}</Loading>
      {dialog}
    </>
  );
}

/** Counts change while messages leave and, after that, while receipts come. */
function isOpen({ state, counts }: Batch): boolean {
  return state === 'processing' || state === 'stopping' || (counts?.sent ?? 0) > 0;
}

const COUNTED = ['queued', 'sent', 'delivered', 'failed', 'expired', 'rejected'] as const;

function Whole({ batch, path }: { readonly batch: Batch; readonly path: string }) {
  const { batch_id: id, state, counts, reference, duplicates, skipped, stopped } = batch;
  const facts = [
    ['Status', state && <Badge tone={BATCH_TONES[state]}>{state}</Badge>],
    ['Progress', <Left of={batch} />],
    ['Recipients', number(batch.total)],
    ['Sender', batch.sender],
    ['Route', batch.route],
    ['Accepted', <Time at={batch.created_at} full />],
    ['Reference', reference],
    ['Equal entries left out', duplicates],
    ['Opted out, left out', skipped],
    ['Stopped', stopped],
    ['Credits', `${number(batch.credits_used)} used, ${number(batch.credits_refunded ?? 0)} refunded`],
  ] as const;
  return (
    <>
      {counts && (
        <Stats>
          {COUNTED.map((name) => (
            <Stat
              key={name}
              label={name}
              value={number(counts[name])}
              href={`/dashboard/messages?batch_id=${id}&state=${name}`}
            />
          ))}
        </Stats>
      )}
      <Card title="Facts">
        <Facts facts={facts} />
      </Card>
      {counts && failedOf(counts) > 0 && <Failures path={path} id={id} count={failedOf(counts)} />}
    </>
  );
}

type Failure = EntryOf<typeof batchFailures>;

interface FailuresProps {
  readonly path: string;
  readonly id: string;
  readonly count: number;
}

function Failures({ path, id, count }: FailuresProps) {
  const list = usePages<Failure>(`${path}/failures`);
  const read = useRef(count);
  useEffect(() => {
    if (count === read.current) return; // The list loads itself on mount.
    read.current = count;
    list.follow();
  }, [count, list.follow]);
  const file = (
    <LinkButton href={`${path}/failures?format=csv`} download={`${id}-failures.csv`} icon="down">
      Download as CSV
    </LinkButton>
  );
  return (
    <Card title="Who got nothing" actions={file}>
      <PagedTable
        list={list}
        caption="Who got nothing"
        rowKey={({ message_id }) => message_id}
        empty={<Empty>Their messages are not kept any more.</Empty>}
        columns={[
          { head: 'Recipient', cell: ({ message_id, to }) => <a href={messageHref(message_id)}>{to}</a> },
          { head: 'Status', cell: ({ status }) => status },
          { head: 'What happened', cell: ({ explanation, error_reason }) => explanation?.cause ?? error_reason },
          { head: 'What to do', cell: ({ explanation }) => explanation && <Words text={explanation.advice} /> },
        ]}
      />
    </Card>
  );
}
