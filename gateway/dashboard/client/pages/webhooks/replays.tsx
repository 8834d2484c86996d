import { useEffect, useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { useLive } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { mayAny } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { number } from '../../parts/number.ts';
import { Card } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import type { Replay } from './webhook.ts';

/** What was lost and is posted again, with its progress. */
export function Replays({ path }: { readonly path: string }) {
  const list = usePages<Replay>(`${path}/replays`);
  const live = useLive<{ readonly data: readonly Replay[] }>('replays');
  const [asking, setAsking] = useState(false);
  const known = live?.data.map(({ replay_id }) => replay_id).join() ?? '';
  // One that began elsewhere is not in the list yet.
  useEffect(() => list.follow(), [known]);
  const now = (row: Replay) => live?.data.find(({ replay_id }) => replay_id === row.replay_id) ?? row;
  return (
    <Card
      title="Replays"
      lead="Posts again what was lost: events whose tries all failed, or that were due while the webhook was disabled."
      actions={mayAny('manage', 'admin:support') && <Button onClick={() => setAsking(true)}>Replay since …</Button>}
    >
      <PagedTable
        list={list}
        caption="Replays"
        rowKey={({ replay_id }) => replay_id}
        empty={<Empty icon="webhook">Nothing was replayed yet.</Empty>}
        columns={[
          { head: 'Events since', cell: (row) => <Time at={row.since} full /> },
          { head: 'Started', cell: (row) => <Time at={row.started_at} /> },
          { head: 'Progress', cell: (row) => <Progress of={now(row)} /> },
          { head: 'Posted again', kind: 'number', cell: (row) => number(now(row).replayed) },
        ]}
      />
      {asking && (
        <Dialog title="Replay since a time" onClose={() => setAsking(false)}>
          <Form
            submit="Start replay"
            onCancel={() => setAsking(false)}
            onSubmit={async (values) => {
              const since = new Date(values.text('since'));
              await create(`${path}/replays`, { since: Number.isNaN(+since) ? '' : since.toISOString() });
              setAsking(false);
              list.reload();
              toast('The replay is running.');
            }}
          >
            <Field
              name="since"
              label="Events from this time on"
              type="datetime-local"
              hint="In your time zone, as far back as deliveries are kept: 30 days unless your service provider says otherwise."
            />
          </Form>
        </Dialog>
      )}
    </Card>
  );
}

function Progress({ of }: { readonly of: Replay }) {
  if (of.state !== 'running') return <>{of.state}</>;
  const percent = Math.round(of.progress * 100);
  return (
    <>
      <progress max={100} value={percent} aria-label="Progress of the replay" /> {percent} %
    </>
  );
}
