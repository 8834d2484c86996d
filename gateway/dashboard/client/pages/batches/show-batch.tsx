import { useEffect, useRef, useState } from 'preact/hooks';
import { remove } from '../../api/http.ts';
import { useLive } from '../../api/live.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Facts, Stat, Stats } from '../../parts/facts.tsx';
import { number } from '../../parts/number.ts';
import { Card, Loading, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { Words } from '../../parts/words.tsx';
import type { PageProps } from '../../router/page.ts';
import { type Message, messageHref } from '../messages/message.ts';
import { BATCH_TONES, type Batch, failedOf } from './batch.ts';
import { Progress } from './progress.tsx';

/** One bulk request, as it goes on. */
export function BatchPage({ params }: PageProps) {
  const path = `/v2/batches/${encodeURIComponent(params.batch_id ?? '')}`;
  const batch = useFollowed(path);
  const [stopping, setStopping] = useState(false);
  const stop = async () => {
    const { message } = await remove<{ readonly message: string }>(path);
    toast(message);
    batch.reload();
  };
  const mayStop = may('send') && batch.data?.state === 'processing';
  return (
    <>
      <PageHead
        title="Batch"
        lead={<CopyId id={params.batch_id ?? ''} />}
        back={{ href: '/dashboard/batches', label: 'Batches' }}
        actions={mayStop && <Button onClick={() => setStopping(true)}>Stop batch</Button>}
      />
      <Loading of={batch}>{(data) => <Whole batch={data} path={path} />}</Loading>
      {stopping && (
        <Confirm title="Stop this batch?" act="Stop batch" onConfirm={stop} onClose={() => setStopping(false)}>
          <p>
            Messages that have not left are not sent any more and are refunded. What has left cannot be called back.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** Counting a batch costs the gateway something, so it is read again at most this often. */
const AGAIN_MS = 3_000;

/** The batch, read again while its messages move: the stream tells when any of the account's newest messages did. */
function useFollowed(path: string): Loaded<Batch> {
  const batch = useLoad<Batch>(path);
  const newest = useLive<{ readonly data: readonly Message[] }>('messages');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const { follow, data } = batch;
  const open = data !== undefined && isOpen(data);
  useEffect(() => {
    if (newest === undefined || !open) return;
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      follow();
    }, AGAIN_MS);
  }, [newest, open, follow]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return batch;
}

function isOpen({ state, counts }: Batch): boolean {
  return state === 'processing' || state === 'stopping' || (counts?.sent ?? 0) > 0;
}

const COUNTED = ['queued', 'sent', 'delivered', 'failed', 'expired', 'rejected'] as const;

function Whole({ batch, path }: { readonly batch: Batch; readonly path: string }) {
  const { batch_id: id, state, counts, reference, duplicates, skipped, stopped } = batch;
  const facts = [
    ['State', state && <Badge tone={BATCH_TONES[state]}>{state}</Badge>],
    ['Progress', <Progress batch={batch} />],
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
        <Facts facts={facts.filter(([, value]) => value !== undefined)} />
      </Card>
      {counts && failedOf(counts) > 0 && <Failures key={failedOf(counts)} path={path} id={id} />}
    </>
  );
}

interface Failure extends Pick<Message, 'message_id' | 'to' | 'status' | 'error_code' | 'error_reason'> {
  readonly explanation?: { readonly cause: string; readonly advice: string };
}

function Failures({ path, id }: { readonly path: string; readonly id: string }) {
  const list = usePages<Failure>(`${path}/failures`);
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
          { head: 'State', cell: ({ status }) => status },
          { head: 'What happened', cell: ({ explanation, error_reason }) => explanation?.cause ?? error_reason },
          { head: 'What to do', cell: ({ explanation }) => explanation && <Words text={explanation.advice} /> },
        ]}
      />
    </Card>
  );
}
