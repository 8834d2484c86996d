import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { mails } from '../../../../endpoints/operators/mail.ts';
import { useLoad, usePages } from '../../api/load.ts';
import { Dialog, useDialog } from '../../parts/form.tsx';
import { ListPage, RowLink } from '../../parts/list.tsx';
import { Loading, Notice } from '../../parts/page.tsx';
import { Badge, Button, number, Stat, Stats, Time, type Tone } from '../../parts/value.tsx';

type Queue = AnswerOf<typeof mails>;
type Mail = Queue['data'][number];

const TONES: Readonly<Record<Mail['state'], Tone>> = { waiting: 'info', sent: 'good', failed: 'bad', expired: 'warn' };
const LINK = 'A link to set a password';

export function MailPage() {
  const queue = useLoad<Queue>('/v2/admin/mails', { limit: '1' });
  const list = usePages<Mail>('/v2/admin/mails');
  const [dialog, open] = useDialog();
  const refresh = () => {
    queue.reload();
    list.reload();
  };
  return (
    <ListPage
      title="Mail"
      lead="What users are told by mail: what happens to their account, and links to set a password. Kept for two weeks."
      actions={<Button onClick={refresh}>Refresh</Button>}
      list={list}
      caption="Mails"
      rowKey={({ mail_id }) => mail_id}
      icon="messages"
      empty="No mail yet."
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
      after={dialog}
    >
      <Loading of={queue}>{(data) => <Waiting of={data} />}</Loading>
    </ListPage>
  );
}

function Waiting({ of: { configured, waiting, next_try_at: next, last_failure: failure } }: { readonly of: Queue }) {
  return (
    <>
      {!configured && (
        <Notice tone="warn">
          No mail server is set up, so nothing is sent. Set HARKARA_SMTP_HOST and HARKARA_MAIL_FROM: the manual, “Mail”.
        </Notice>
      )}
      <Stats>
        <Stat
          label="Waiting"
          value={number(waiting)}
          note={
            next && (
              <>
                next try <Time at={next} />
              </>
            )
          }
        />
        <Stat label="Last failure" value={<Time at={failure?.at} none="none" />} note={failure?.words} />
      </Stats>
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
