import type { EntryOf } from '../../../../api/endpoint.ts';
import type { ownSessions } from '../../../../endpoints/sign-in/own-sessions.ts';
import { remove } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toast, toastProblem } from '../../parts/toast.tsx';

type OwnSession = EntryOf<typeof ownSessions>;

/** Where one is signed in. A session that one does not know can be ended at once. */
export function SessionsCard() {
  const sessions = usePages<OwnSession>('/v2/profile/sessions');
  const end = (path: string, said: string) => {
    remove(path).then(() => {
      sessions.reload();
      toast(said);
    }, toastProblem);
  };
  const others = sessions.rows?.some(({ current }) => !current) ?? false;
  return (
    <Card
      title="Sessions"
      lead="Browsers in which you are signed in."
      actions={
        others && (
          <Button onClick={() => end('/v2/profile/sessions', 'All other sessions have ended.')}>End all others</Button>
        )
      }
    >
      <PagedTable
        list={sessions}
        caption="Your sessions"
        rowKey={(row) => row.session_id}
        empty={null}
        columns={[
          {
            head: 'Browser',
            cell: ({ agent, current }) => (
              <>
                {browserName(agent ?? '')} {current && <Badge tone="good">This one</Badge>}
              </>
            ),
          },
          { head: 'Address', cell: ({ address }) => <code>{address}</code> },
          { head: 'Signed in', cell: (row) => <Time at={row.made_at} /> },
          { head: 'Last seen', cell: (row) => <Time at={row.seen_at} /> },
          { head: 'Ends at the latest', cell: (row) => <Time at={row.expires_at} /> },
          {
            head: 'Actions',
            kind: 'actions',
            cell: ({ session_id, current }) =>
              !current && (
                <Button look="quiet" onClick={() => end(`/v2/profile/sessions/${session_id}`, 'Session ended.')}>
                  End session
                </Button>
              ),
          },
        ]}
      />
    </Card>
  );
}

/** What browsers call themselves. Later ones also claim the names of earlier ones, so the first that is found counts. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** "Firefox on Windows": what one recognises of a User-Agent. */
function browserName(agent: string): string {
  const [, browser] = BROWSERS.find(([mark]) => agent.includes(mark)) ?? [];
  const [, system] = SYSTEMS.find(([mark]) => agent.includes(mark)) ?? [];
  if (browser === undefined) return agent.slice(0, 40) || 'unknown';
  return system === undefined ? browser : `${browser} on ${system}`;
}
