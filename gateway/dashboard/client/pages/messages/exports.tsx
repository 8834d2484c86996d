import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { exportList } from '../../../../endpoints/exports/exports.ts';
import { create, queryText, remove } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { lookQuery } from '../../api/looking.ts';
import { useReadAgain } from '../../api/read-again.ts';
import { session } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { counted } from '../../parts/number.ts';
import { Card } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toast, toastProblem } from '../../parts/toast.tsx';

type Exports = AnswerOf<typeof exportList>;
type Export = Exports['exports'][number];

/** The files of messages that were asked for, and the button that asks for what is shown now. */
export function useExports(filter: Readonly<Record<string, string>>) {
  const loaded = useLoad<Exports>('/v2/account/exports');
  const [busy, setBusy] = useState(false);
  useReadAgain(loaded, ({ exports }) => exports.some(({ state }) => state === 'running'));
  const begin = async () => {
    setBusy(true);
    const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
    await create('/v2/account/exports', asked)
      .then(() => toast('The file is being made. It appears below.'))
      .catch(toastProblem);
    setBusy(false);
    loaded.reload();
  };
  const drop = async (id: string) => {
    await remove(`/v2/account/exports/${id}`).catch(toastProblem);
    loaded.reload();
  };
  const rows = loaded.data?.exports ?? [];
  return {
    button: (
      <Button icon="down" busy={busy} onClick={begin}>
        Export as CSV
      </Button>
    ),
    card: rows.length > 0 && (
      <Card
        title="Files"
        lead="Of the messages that fitted the filter when you asked, without their texts. Kept for a day."
      >
        <Table
          caption="Exports"
          rows={rows}
          rowKey={({ export_id }) => export_id}
          columns={[
            { head: 'Asked for', cell: ({ started_at }) => <Time at={started_at} /> },
            { head: 'Status', cell: (row) => <State of={row} /> },
            {
              head: 'Messages',
              kind: 'number',
              cell: ({ rows, complete }) => `${counted(rows, 'message')}${complete ? '' : ', cut off'}`,
            },
            { head: 'Removed', cell: ({ expires_at }) => <Time at={expires_at} /> },
            {
              head: 'Actions',
              kind: 'actions',
              cell: (row) => <Actions of={row} onRemove={() => drop(row.export_id)} />,
            },
          ]}
        />
      </Card>
    ),
  };
}

function State({ of: { export_id: id, state, progress } }: { readonly of: Export }) {
  if (state === 'done') return <Badge tone="good">ready</Badge>;
  if (state === 'failed') return <Badge tone="bad">failed: ask again</Badge>;
  const percent = Math.floor(progress * 100);
  return (
    <span class="progress">
      <progress max={100} value={percent} aria-label={`Progress of ${id}`} /> {percent} %
    </span>
  );
}

function Actions({
  of: { export_id: id, state, may_remove },
  onRemove,
}: {
  readonly of: Export;
  readonly onRemove: () => void;
}) {
  const user = session.value?.user.user_id;
  return (
    <>
      {state === 'done' && (
        <LinkButton
          icon="down"
          href={`/v2/account/exports/${id}/file${queryText({ ...lookQuery(), user })}`}
          download="messages.csv"
        >
          Download
        </LinkButton>
      )}
      {may_remove && (
        <Button look="quiet" icon="close" onClick={onRemove}>
          Remove
        </Button>
      )}
    </>
  );
}
