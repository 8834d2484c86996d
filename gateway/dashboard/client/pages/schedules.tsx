import { useLocation } from 'preact-iso/router';
import type { EntryOf } from '../../../api/endpoint.ts';
import type { schedules } from '../../../endpoints/schedules/schedules.ts';
import { remove } from '../api/http.ts';
import { usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { type Asking, type Column, ListPage } from '../parts/list.tsx';
import { Tabs } from '../parts/page.tsx';
import { Badge, CopyId, counted, LinkButton, number, Time, type Tone } from '../parts/value.tsx';

type Schedule = EntryOf<typeof schedules>;

const TONES: Readonly<Record<Schedule['state'], Tone>> = {
  scheduled: 'info',
  sending: 'info',
  sent: 'good',
  cancelled: 'warn',
};
const HERE = '/dashboard/schedules';

export function SchedulesPage() {
  const { query } = useLocation();
  const all = query.show === 'all';
  return (
    <ListPage
      title="Schedules"
      lead="Messages that are paid for and wait for their time."
      next={may('send') && <LinkButton href="/dashboard/send">Schedule a message</LinkButton>}
      list={usePages<Schedule>('/v2/schedules', all ? {} : { state: 'scheduled' })}
      rowKey={({ schedule_id }) => schedule_id}
      icon="clock"
      empty={all ? 'Nothing was scheduled yet.' : 'Nothing waits for its time.'}
      columns={COLUMNS}
      acts={may('send') && ((row) => (row.state === 'scheduled' ? [['Cancel', whatOf(row), cancelling(row)]] : []))}
    >
      <Tabs
        label="Which schedules"
        tabs={[
          { href: HERE, label: 'Waiting' },
          { href: `${HERE}?show=all`, label: 'All' },
        ]}
      />
    </ListPage>
  );
}

function cancelling({ schedule_id: id, credits }: Schedule): Asking {
  return {
    title: 'Cancel this schedule?',
    act: 'Cancel schedule',
    warning: `It is not sent. ${counted(credits, 'credit')} will be refunded.`,
    send: async () => (await remove<{ readonly message: string }>(`/v2/schedule/${id}`)).message,
  };
}

const COLUMNS: readonly Column<Schedule>[] = [
  { head: 'Sent at', cell: ({ scheduled_for }) => <Time at={scheduled_for} full /> },
  { head: 'Status', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
  { head: 'What', cell: (schedule) => <What schedule={schedule} /> },
  { head: 'Sender', cell: ({ sender }) => sender ?? '' },
  { head: 'Reference', cell: ({ reference }) => reference ?? '' },
  { head: 'Credits', cell: ({ credits }) => number(credits), kind: 'number' },
  { head: 'Booked', cell: ({ created_at }) => <Time at={created_at} /> },
  { head: 'Id', cell: ({ schedule_id }) => <CopyId id={schedule_id} /> },
];

function whatOf({ kind, to, total, credits }: Schedule): string {
  return kind === 'message' ? (to ?? 'one message') : `${number(total ?? credits)} recipients`;
}

function What({ schedule }: { readonly schedule: Schedule }) {
  const { message_id: message, batch_id: batch } = schedule;
  const words = whatOf(schedule);
  if (message !== undefined) return <a href={`/dashboard/messages/${message}`}>{words}</a>;
  if (batch !== undefined) return <a href={`/dashboard/batches/${batch}`}>{words}</a>;
  return words;
}
