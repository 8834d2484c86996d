import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { mails } from '../../../../endpoints/operators/mail.ts';
import { useLoad } from '../../api/load.ts';
import { usePages } from '../../api/pages.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, useDialog } from '../../parts/dialog.tsx';
import { Empty, Loading, Notice, PageHead } from '../../parts/page.tsx';
import { PagedTable, RowLink } from '../../parts/table.tsx';
import { Badge, number, Stat, Stats, Time, type Tone } from '../../parts/value.tsx';

type Queue = AnswerOf<typeof mails>;
type Mail = Queue['data'][number];

const TONES: Readonly<Record<Mail['state'], Tone>> = { waiting: 'info', sent: 'good', failed: 'bad', expired: 'warn' };
const LINK = 'A link to set a password';

/** What users are told by mail, and whether the mail server takes it. */
export function MailPage() {
  const queue = useLoad<Queue>('/v2/admin/mails', { limit: '1' });
  const list = usePages<Mail>('/v2/admin/mails');
  const [dialog, open] = useDialog();
  const refresh = () => {
    queue.reload();
    list.reload();
  };
  return (
    <>
      <PageHead
        title="Mail"
        lead="What users are told by mail: what happens to their account, and links to set a password. Kept for two weeks."
        actions={<Button onClick={refresh}>Refresh</Button>}
      />
      <Loading of={queue}>
        {({ configured, waiting, next_try_at, last_failure }) => (
          <>
            {!configured && (
              <Notice tone="warn">
                No mail server is set up, so nothing is sent. Set HARKARA_SMTP_HOST and HARKARA_MAIL_FROM: the manual,
                “Mail”.
              </Notice>
            )}
            <Stats>
              <Stat
                label="Waiting"
                value={number(waiting)}
                note={
                  next_try_at && (
                    <>
                      next try <Time at={next_try_at} />
                    </>
                  )
                }
              />
              <Stat
                label="Last failure"
                value={<Time at={last_failure?.at ?? null} none="none" />}
                note={last_failure?.words}
              />
            </Stats>
          </>
        )}
      </Loading>
      <PagedTable
        list={list}
        caption="Mails"
        rowKey={({ mail_id }) => mail_id}
        empty={<Empty icon="messages">No mail yet.</Empty>}
        columns={[
          {
            head: 'Subject',
            cell: (row) =>
              row.subject === null ? (
                LINK
              ) : (
                <RowLink onClick={() => open(<MailDialog of={row} />)}>{row.subject}</RowLink>
              ),
          },
          { head: 'To', cell: ({ to }) => to },
          { head: 'Happened', cell: (row) => <Time at={row.at} /> },
          { head: 'Status', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
          { head: 'What went wrong', cell: ({ error }) => error ?? '–' },
        ]}
      />
      {dialog}
    </>
  );
}

function MailDialog({ of: { subject, text } }: { readonly of: Mail }) {
  return (
    <Dialog title={subject ?? LINK} side="right">
      {text?.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
    </Dialog>
  );
}
