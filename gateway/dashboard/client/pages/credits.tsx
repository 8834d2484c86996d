import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { ledger } from '../../../endpoints/ledger/ledger.ts';
import type { accountPrices } from '../../../endpoints/prices/prices.ts';
import type { accountOverview, lowBalance } from '../../../endpoints/statistics/overview.ts';
import { lookQuery, put, queryText } from '../api/http.ts';
import { useLive } from '../api/live.ts';
import { useLoad, usePages } from '../api/load.ts';
import { may, session } from '../api/session.ts';
import { CHANNEL_WORDS } from '../parts/channel.ts';
import { Field } from '../parts/field.tsx';
import { FormDialog, useDialog } from '../parts/form.tsx';
import { type Column, FilterBar, FilterSelect, FilterTime, PagedTable, Table, useUrlFilter } from '../parts/list.tsx';
import { Card, Empty, Loading, PageHead } from '../parts/page.tsx';
import { amount, Badge, Button, counted, LinkButton, number, Stat, Stats, Time } from '../parts/value.tsx';
import { StatementsCard } from './statements.tsx';

export function CreditsPage() {
  const overview = useLoad<Overview>('/v2/account/overview');
  const prices = useLoad<Prices>('/v2/account/prices');
  const filter = useUrlFilter('reason', 'since', 'until', 'change_id');
  const list = usePages<Entry>('/v2/ledger', filter.values);
  const { change_id, ...filtered } = filter.values;
  const query = queryText({ ...filtered, ...lookQuery(), user: session.value?.user.user_id });
  const file = (
    <LinkButton icon="down" href={`/v2/ledger.csv${query}`} download="statement.csv">
      Download as CSV
    </LinkButton>
  );
  return (
    <>
      <PageHead
        title="Credits"
        lead="What is left, and every change of it, the newest first. A file has up to 100,000: for older ones, fill in “Before”."
        actions={file}
      />
      <Loading of={overview}>
        {(data) => (
          <>
            <Stats>
              <BalanceStats overview={data} />
            </Stats>
            <LowBalanceLine />
            <StatementsCard base="/dashboard/credits/statement" since={data.created_at} />
          </>
        )}
      </Loading>
      <Card title="What a message costs" lead="The first line that fits decides.">
        <Loading of={prices}>{(data) => <PricesTable prices={data.prices} />}</Loading>
      </Card>
      <FilterBar filter={filter}>
        <FilterSelect filter={filter} name="reason" label="What for" options={REASONS} />
        <FilterTime filter={filter} name="since" label="From" />
        <FilterTime filter={filter} name="until" label="Before" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Statement"
        rowKey={({ seq }) => String(seq)}
        columns={COLUMNS}
        filter={filter}
        empty={<Empty icon="credits">No credits yet. Your service provider adds them.</Empty>}
      />
    </>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  { head: 'No.', kind: 'number', cell: ({ seq }) => number(seq) },
  { head: 'When', cell: ({ at }) => <Time at={at} full /> },
  { head: 'What for', cell: (entry) => <PurposeOf entry={entry} /> },
  { head: 'Credits', kind: 'number', cell: ({ amount: credits }) => `${credits > 0 ? '+' : ''}${amount(credits)}` },
  { head: 'Balance after', kind: 'number', cell: ({ balance_after }) => amount(balance_after) },
];

export type Overview = AnswerOf<typeof accountOverview>;

/** The live balance, its expiry, and how long it lasts at the last week's rate. */
export function BalanceStats({ overview }: { readonly overview: Overview }) {
  const { credits_per_day: rate, expiry_date, expires_in_days: days } = overview;
  const balance = useLive<{ readonly balance: number }>('balance')?.balance ?? overview.balance;
  return (
    <>
      <Stat label="Balance" value={number(balance)} note={lastsNote(balance, rate, days)} href="/dashboard/credits" />
      <Stat label="Used a day" value={amount(rate)} note="in the last 7 days" />
      <Stat
        label="Expires"
        value={expiry_date}
        note={days < 0 ? 'expired' : days === 0 ? 'today' : `in ${plural(days)}`}
      />
    </>
  );
}

function lastsNote(balance: number, rate: number, expiresInDays: number): string {
  if (rate === 0) return 'credits';
  const lasts = Math.floor(balance / rate);
  if (lasts < 1) return 'lasts less than a day at this rate';
  if (lasts > expiresInDays) return 'lasts until it expires at this rate';
  return `lasts about ${plural(lasts)} at this rate`;
}

function plural(days: number): string {
  return counted(days, 'day');
}

type LowBalance = AnswerOf<typeof lowBalance>;

const PATH = '/v2/account/low-balance';

function LowBalanceLine() {
  const { data, setData } = useLoad<LowBalance>(PATH);
  const [dialog, open] = useDialog();
  if (data === undefined) return null;
  const ask = () =>
    open(
      <FormDialog
        title="When the balance is low"
        submit="Save threshold"
        onSubmit={async (values) => {
          setData(await put<LowBalance>(PATH, { threshold: values.number('threshold') }));
          return 'Threshold saved.';
        }}
      >
        <Field name="threshold" label="Credits" type="number" initial={String(data.threshold ?? 0)}>
          You are told when no more than these are left. 0: when they last for less than two days at the rate of the
          last week.
        </Field>
      </FormDialog>,
    );
  return (
    <p class="soft acts">
      <span>
        {data.threshold === null
          ? 'You are told when the credits last for less than two days.'
          : `You are told when no more than ${amount(data.threshold)} credits are left.`}{' '}
        <a href="/dashboard/profile">Who is told by mail</a>
      </span>
      {may('manage') && <Button onClick={ask}>Change threshold</Button>}
      {dialog}
    </p>
  );
}

export type Prices = AnswerOf<typeof accountPrices>;
export type Price = Prices['prices'][number];

/** The first line that matches a message decides its price. */
export function PricesTable({ prices }: { readonly prices: Prices['prices'] }) {
  if (prices.length === 0) return <p class="soft">An SMS costs 1 credit for each recipient, however long it is.</p>;
  return (
    <Table
      caption="Prices"
      rows={prices.map((price, i) => ({ ...price, place: i + 1 }))}
      rowKey={({ place }) => String(place)}
      columns={PRICE_COLUMNS}
    />
  );
}

const PRICE_COLUMNS: readonly Column<Price & { readonly place: number }>[] = [
  { head: 'No.', kind: 'number', cell: ({ place }) => place },
  { head: 'Channel', cell: ({ channel }) => CHANNEL_WORDS[channel] },
  { head: 'Country', cell: ({ country }) => country ?? 'all' },
  { head: 'Only', cell: ({ route, started_by: by }) => route ?? (by && `started by ${by}`) ?? '–' },
  { head: 'Credits', kind: 'number', cell: ({ credits }) => number(credits) },
  { head: 'For each', cell: ({ per }) => per },
];

type Entry = EntryOf<typeof ledger>;

const REASONS = [
  ['send', 'Messages'],
  ['conversation', 'Conversations'],
  ['top_up', 'Top-ups'],
  ['refund', 'Refunds'],
  ['correction', 'Corrections'],
] as const;

/** The page of the thing that a change was for, by the prefix of its id. */
const PAGES: readonly (readonly [prefix: string, what: string, path?: string])[] = [
  ['bat_', 'batch', '/dashboard/batches/'],
  ['sch_', 'schedule', '/dashboard/schedules?show=all#'],
  ['msg_', 'message', '/dashboard/messages/'],
  ['cnv_', 'conversation'],
];

function PurposeOf({ entry }: { readonly entry: Entry }) {
  const { reason, reference, schedule_ids: schedules, note } = entry;
  if (reason === 'refund') {
    return (
      <>
        Refund of {thing(reference)}: {entry.explanation ?? 'it never left.'} <Messages of={entry} />
      </>
    );
  }
  if (reason === 'conversation')
    return (
      <>
        Conversation on the chat-app channel {code(reference)} <Messages of={entry} />
      </>
    );
  if (reason === 'send') {
    if (schedules !== undefined && schedules.length > 0) {
      return (
        <>
          Booked: {schedules.map((id, at) => [at > 0 && ', ', thing(id)])} <Messages of={entry} />
        </>
      );
    }
    if (reference !== null) return <>Sent: {thing(reference)}</>;
    return <Messages of={entry} />;
  }
  const words = reason === 'top_up' ? 'Top-up' : 'Correction';
  return note ? (
    `${words}: ${note}`
  ) : (
    <>
      {words} {code(reference)}
    </>
  );
}

/** The charged messages, with a mark where the same message was charged twice. */
function Messages({ of: entry }: { readonly of: Entry }) {
  const { messages = [], message_count: count = 0, repeats = [], amount, change_id: change } = entry;
  const [few] = [messages.slice(0, count > 2 ? 1 : 2)];
  return (
    <>
      {few.map(({ message_id: id, to, reference }, at) => (
        <span key={id ?? at}>
          {at > 0 && ', '}
          {id === undefined ? (to ?? 'a message') : <a href={`/dashboard/messages/${id}`}>{to ?? 'a message'}</a>}
          {reference !== null && ` (${reference})`}
        </span>
      ))}
      {count > 2 && (
        <>
          {' and '}
          <a href={`/dashboard/messages?change_id=${change}`}>{number(count - 1)} more</a>
        </>
      )}
      {messages.length === 0 &&
        count === 0 &&
        entry.reason === 'send' &&
        (amount === -1 ? 'One message' : `${number(-amount)} credits`)}
      {repeats.length > 0 && (
        <>
          {' '}
          <Badge tone="warn">same as line {repeats.map(number).join(', ')}</Badge>
        </>
      )}
    </>
  );
}

function thing(id: string | null) {
  const [prefix, what, path] = PAGES.find(([begin]) => id?.startsWith(begin)) ?? [];
  if (id === null || prefix === undefined) return code(id);
  return (
    <>
      {what} {path === undefined ? code(id) : <a href={path + id}>{code(id)}</a>}
    </>
  );
}

function code(text: string | null) {
  return text === null ? null : <code>{text}</code>;
}
