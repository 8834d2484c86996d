import { useState } from 'preact/hooks';
import type { EntryOf } from '../../../../api/endpoint.ts';
import type { listLedgerChecks } from '../../../../endpoints/ledger-checks/ledger-checks.ts';
import { post } from '../../api/http.ts';
import { useLive } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AccountLink } from '../../parts/account.tsx';
import { Button } from '../../parts/button.tsx';
import { toast, toastProblem } from '../../parts/dialog.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Badge, number, Time, type Tone } from '../../parts/value.tsx';

/** As `GET /v2/admin/ledger-checks` shows it. */
type Check = EntryOf<typeof listLedgerChecks>;

/** As the stream tells of the newest. */
interface Checks {
  readonly data: readonly Check[];
}

/** Proves that every change of a balance is in the ledger, without a gap. */
export function LedgerChecksPage() {
  const list = usePages<Check>('/v2/admin/ledger-checks');
  const live = useLive<Checks>('ledger_checks');
  const [busy, setBusy] = useState(false);
  const begin = async () => {
    setBusy(true);
    await post('/v2/admin/ledger-checks')
      .then(() => toast('The check has begun. It may take minutes.'))
      .catch(toastProblem);
    setBusy(false);
    list.reload();
  };
  return (
    <>
      <PageHead
        title="Ledger check"
        lead="Walks the ledgers of all accounts: every change of a balance is there, in order, without a gap. It changes nothing."
        actions={
          may('admin:money') && (
            <Button look="primary" busy={busy} onClick={begin}>
              Begin a check
            </Button>
          )
        }
      />
      <PagedTable
        list={{ ...list, rows: list.rows && newest(live, list.rows) }}
        caption="Ledger checks"
        rowKey={({ ledger_check_id }) => ledger_check_id}
        empty={<Empty icon="audit">No check was made in the last 30 days.</Empty>}
        columns={[
          { head: 'Begun', cell: (row) => <Time at={row.started_at} /> },
          { head: 'Status', cell: (row) => <State of={row} /> },
          { head: 'Accounts', cell: (row) => <Progress of={row} /> },
          { head: 'Entries', kind: 'number', cell: ({ entries }) => number(entries) },
          { head: 'Broken', cell: (row) => <Broken of={row} /> },
        ]}
      />
    </>
  );
}

/** The stream's newest ones over those that were read: what was just begun may be in either first. */
function newest(live: Checks | undefined, read: readonly Check[]): readonly Check[] {
  const told = new Map((live?.data ?? []).map((check) => [check.ledger_check_id, check]));
  const known = new Set(read.map(({ ledger_check_id: id }) => id));
  const [first] = read;
  const begun = [...told.values()].filter(
    ({ ledger_check_id: id, started_at }) => !known.has(id) && (first === undefined || started_at >= first.started_at),
  );
  return [...begun, ...read.map((check) => told.get(check.ledger_check_id) ?? check)];
}

function State({ of: { state, broken } }: { readonly of: Check }) {
  const tones: Readonly<Record<Check['state'], Tone>> = {
    running: 'info',
    done: broken.length === 0 ? 'good' : 'bad',
    failed: 'bad',
    interrupted: 'warn',
  };
  const words = { running: 'running', failed: 'failed', interrupted: 'interrupted: begin another one' } as const;
  return (
    <Badge tone={tones[state]}>
      {state === 'done' ? (broken.length === 0 ? 'all whole' : 'broken') : words[state]}
    </Badge>
  );
}

function Progress({ of: { state, done, total } }: { readonly of: Check }) {
  const words = `${number(done)} of ${number(total)}`;
  if (state !== 'running') return <>{words}</>;
  return (
    <>
      <progress value={done} max={Math.max(total, 1)} aria-label="Accounts checked" /> {words}
    </>
  );
}

function Broken({ of: { broken } }: { readonly of: Check }) {
  if (broken.length === 0) return <span class="soft">none</span>;
  return (
    <>
      {broken.map(({ account_id: id, problems }) => (
        <div key={id}>
          <AccountLink id={id} />: {problems.slice(0, 3).join('; ')}
        </div>
      ))}
    </>
  );
}
