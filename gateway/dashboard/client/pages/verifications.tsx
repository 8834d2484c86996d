import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { verificationRates, verifications } from '../../../endpoints/verify/verifications.ts';
import { useLoad, usePages } from '../api/load.ts';
import { FilterText, ListPage, Table, useUrlFilter } from '../parts/list.tsx';
import { Card, Loading } from '../parts/page.tsx';
import { Badge, CopyId, counted, number, percent, Stat, Stats, Time, type Tone } from '../parts/value.tsx';
import { PREFIX } from './limits.tsx';
import { messageHref } from './messages.tsx';

type Verification = EntryOf<typeof verifications>;
type Rates = AnswerOf<typeof verificationRates>;

const TONES: Readonly<Record<Verification['state'], Tone>> = {
  pending: 'info',
  approved: 'good',
  failed: 'bad',
  expired: 'warn',
};

export function VerificationsPage() {
  const filter = useUrlFilter('to');
  const rates = useLoad<Rates>('/v2/account/verification-rates');
  return (
    <ListPage
      title="Verifications"
      lead="Codes that the gateway made and sent for you (POST /v2/verify), of the last 14 days. The codes themselves are shown to nobody."
      list={usePages<Verification>('/v2/verifications', filter.values)}
      filter={filter}
      filters={<FilterText filter={filter} name="to" label="Number" placeholder="919876543210" />}
      rowKey={({ verification_id }) => verification_id}
      empty={
        <>
          No code was asked for yet. <a href="/docs#verify">POST /v2/verify</a> sends one.
        </>
      }
      columns={[
        { head: 'Number', cell: (row) => <a href={messageHref(row.message_id)}>{row.to}</a> },
        { head: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
        { head: 'Asked', cell: (row) => <Time at={row.created_at} /> },
        { head: 'Tries', cell: (row) => `${row.attempts}\u00a0of\u00a0${row.max_attempts}` },
        { head: 'Sent by', cell: SentBy },
        { head: 'Reference', cell: ({ reference }) => reference && <span class="long">{reference}</span> },
        { head: 'Id', cell: ({ verification_id: id }) => <CopyId id={id} /> },
      ]}
    >
      <Loading of={rates}>{(shown) => <RatesCard rates={shown} />}</Loading>
    </ListPage>
  );
}

function SentBy({ channel, fallback }: Verification) {
  if (channel === 'chatapp') return 'chat app';
  if (fallback === undefined || fallback.state === 'not_needed') return 'SMS';
  const { state, due_at: due, message_id: second, error_reason: reason } = fallback;
  if (second !== undefined) {
    return (
      <>
        SMS, then <a href={messageHref(second)}>chat app</a>
      </>
    );
  }
  if (state === 'refused') return <span class="long">SMS; not by chat app: {reason}</span>;
  if (due === undefined) return 'SMS, now chat app';
  return (
    <>
      SMS, chat app <Time at={due} />
    </>
  );
}

function RatesCard({ rates: { asked, approved, prefixes } }: { readonly rates: Rates }) {
  if (asked === 0) return null;
  return (
    <Card title="Given back in the last 24 hours" lead="Of the codes that were used, failed or expired.">
      <Stats>
        <Stat label="Codes" value={number(asked)} />
        <Stat label="Given back" value={percent(approved / asked)} note={counted(approved, 'code')} />
      </Stats>
      <Table
        caption="Given back, by the beginning of the number"
        rows={prefixes.slice(0, SHOWN)}
        rowKey={({ prefix }) => prefix}
        columns={[
          PREFIX,
          { head: 'Codes', cell: (row) => number(row.asked), kind: 'number' },
          { head: 'Given back', cell: (row) => percent(row.approved / row.asked), kind: 'number' },
        ]}
      />
    </Card>
  );
}

/** Newest entries shown; the API has all. */
const SHOWN = 8;
