import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { accountReports, adminReports, conversationLosses } from '../../../endpoints/reports/reports.ts';
import { lookQuery, queryText } from '../api/http.ts';
import { useLoad, usePages } from '../api/load.ts';
import { AccountLink, FilterAccount } from '../parts/account.tsx';
import {
  type Column,
  FilterBar,
  FilterDay,
  FilterSelect,
  FilterText,
  ListPage,
  MoreFilters,
  Table,
  useUrlFilter,
} from '../parts/list.tsx';
import { Card, Empty, Loading, PageHead } from '../parts/page.tsx';
import { Plot } from '../parts/plot.tsx';
import { amount, counted, LinkButton, number, percent, Stat, Stats, Time } from '../parts/value.tsx';
import { ErrorTable } from './overview.tsx';

export function ReportsPage() {
  return (
    <Reports
      path="/v2/account/reports"
      dimensions={() => DIMENSIONS}
      lead="What you sent, what became of it, and what it cost."
    />
  );
}

export function AdminReportsPage() {
  return (
    <Reports
      path="/v2/admin/reports"
      dimensions={adminDimensions}
      lead="What accounts sent, what became of it, and what the prices and costs of routes and chat-app providers come to."
    />
  );
}

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** Rows shown; the file has all. */
const ROWS = 100;

interface ReportsProps {
  readonly path: string;
  readonly dimensions: (isOneAccount: boolean) => Dimensions;
  readonly lead: string;
}

function Reports({ path, dimensions, lead }: ReportsProps) {
  const filter = useUrlFilter('from', 'to', 'group_by', 'account_id', 'sender', 'country', 'carrier');
  const isAdmin = path.startsWith('/v2/admin');
  const choices = dimensions(filter.values.account_id !== '');
  const by: Dimension = choices.find(([name]) => name === filter.values.group_by) ?? choices[0] ?? ['sender', 'Sender'];
  const { group_by, ...wanted } = filter.values;
  const period = { ...wanted, zone: ZONE };
  const days = useLoad<Report>(path, { ...period, group_by: 'day', limit: ROWS });
  const rows = useLoad<Report>(path, { ...period, group_by: by[0], limit: 500 });
  const query = queryText({ ...period, group_by: `day,${by[0]}`, format: 'csv', ...(isAdmin ? {} : lookQuery()) });
  return (
    <>
      <PageHead
        title={isAdmin ? 'Reports of all accounts' : 'Reports'}
        lead={`${lead} Days are those of ${ZONE}.`}
        actions={
          <>
            {isAdmin && <LinkButton href="/dashboard/admin/losses">Conversations that cost more</LinkButton>}
            <LinkButton icon="down" href={path + query} download="report.csv">
              Download as CSV
            </LinkButton>
          </>
        }
      />
      <FilterBar filter={filter}>
        <FilterDay filter={filter} name="from" label="From" preset={days.data?.from ?? ''} />
        <FilterDay filter={filter} name="to" label="To" preset={days.data?.to ?? ''} />
        <FilterSelect filter={filter} name="group_by" label="Compare by" options={choices} one />
        {isAdmin && <FilterAccount filter={filter} />}
      </FilterBar>
      <MoreFilters filter={filter} names={['sender', 'carrier', 'country']}>
        {(!isAdmin || filter.values.account_id !== '') && <FilterText filter={filter} name="sender" label="Sender" />}
        <FilterText filter={filter} name="carrier" label="Carrier" />
        <FilterText filter={filter} name="country" label="Country" placeholder="IN" />
      </MoreFilters>
      <Loading of={days}>{(report) => <Days report={report} />}</Loading>
      <Card title={`By ${by[1].toLowerCase()}`} lead="The most messages first. The file has each day by itself.">
        <Loading of={rows}>{(report) => <Rows report={report} by={by} isAdmin={isAdmin} />}</Loading>
      </Card>
    </>
  );
}

function Days({ report }: { readonly report: Report }) {
  const { total, data, counted_at, unsorted } = report;
  const days = daysOf(report);
  const rows = new Map(data.map((row) => [row.day, row]));
  const values = (of: (row: Counts) => number) =>
    days.map((day) => {
      const row = rows.get(day);
      return row === undefined ? 0 : of(row);
    });
  return (
    <>
      <Stats>
        <Stat label="Messages" value={number(total.messages)} note={`${number(total.segments)} segments`} />
        <Stat
          label="Delivered"
          value={number(total.delivered)}
          note={`${percent(total.delivery_rate)} of those that ended`}
        />
        <Stat label="Not delivered" value={number(undelivered(total))} note="failed, expired or rejected" />
        <Stat
          label="Credits"
          value={amount(total.credits)}
          note={total.refunded > 0 ? `${amount(total.refunded)} came back` : undefined}
        />
        {total.sales && <Stat label="Price" value={amounts(total.sales) || '–'} note="of routes and conversations" />}
        {total.costs && (
          <Stat
            label="Costs"
            value={amounts(total.costs) || '–'}
            note={
              total.unpriced
                ? `without ${counted(total.unpriced, 'chat-app message')} of unknown price`
                : 'of carriers and chat-app providers'
            }
          />
        )}
        {total.margin && <Stat label="Margin" value={amounts(total.margin) || '–'} />}
      </Stats>
      <Card>
        <Plot
          title="Messages by day"
          summary={
            total.messages === 0
              ? 'No messages in this period.'
              : `${number(total.messages)} in ${number(days.length)} days.`
          }
          times={days.map((day) => `${day}T00:00:00Z`)}
          days
          dayHead="Day"
          series={[
            { name: 'Delivered', tone: 'good', values: values(({ delivered }) => delivered) },
            { name: 'Sent, no receipt yet', tone: 'accent', values: values(({ sent }) => sent) },
            { name: 'Waiting', tone: 'warn', values: values(({ queued }) => queued) },
            { name: 'Not delivered', tone: 'bad', values: values(undelivered) },
          ]}
        />
        <p class="soft">
          {counted_at === null ? (
            'Nothing is counted yet. Numbers come within a minute of the first message.'
          ) : (
            <>
              Counted <Time at={counted_at} />. Messages are counted on the day on which they were made.
            </>
          )}
          {unsorted > 0 && ` ${number(unsorted)} more may fit the filter: they were too different to be counted apart.`}
        </p>
      </Card>
      <Card title="Why messages were not delivered">
        <ErrorTable rows={total.errors} />
      </Card>
    </>
  );
}

interface RowsProps {
  readonly report: Report;
  readonly by: Dimension;
  readonly isAdmin: boolean;
}

function Rows({ report, by: [name, label], isAdmin }: RowsProps) {
  const rows = [...report.data].sort((a, b) => b.messages - a.messages).slice(0, ROWS);
  if (rows.length === 0) return <Empty icon="queue">Nothing was sent in this period.</Empty>;
  const nameOf = (row: ReportRow) => {
    if (row.other) return 'Others together';
    const value = String(row[name] ?? '–');
    return name === 'account_id' ? <AccountLink id={value} /> : value;
  };
  const money: readonly Column<ReportRow>[] = [
    { head: 'Price', kind: 'number', cell: ({ sales }) => amounts(sales) || '–' },
    { head: 'Costs', kind: 'number', cell: ({ costs }) => amounts(costs) || '–' },
    { head: 'Margin', kind: 'number', cell: ({ margin }) => amounts(margin) || '–' },
  ];
  return (
    <>
      <Table
        caption={`By ${label.toLowerCase()}`}
        compared
        rows={rows}
        rowKey={(row) => `${row[name]} ${row.other}`}
        columns={[
          { head: label, cell: nameOf },
          { head: 'Messages', kind: 'number', cell: ({ messages }) => number(messages) },
          { head: 'Segments', kind: 'number', cell: ({ segments }) => number(segments) },
          { head: 'Delivered', kind: 'number', cell: ({ delivered }) => number(delivered) },
          { head: 'Rate', kind: 'number', cell: ({ delivery_rate }) => percent(delivery_rate) },
          { head: 'Not delivered', kind: 'number', cell: (row) => number(undelivered(row)) },
          { head: 'Credits', kind: 'number', cell: ({ credits }) => amount(credits) },
          ...(isAdmin ? money : []),
        ]}
      />
      {(report.next_cursor !== null || report.data.length > ROWS) && <p class="soft">The file has the others.</p>}
    </>
  );
}

function undelivered({ failed, expired, rejected }: Counts): number {
  return failed + expired + rejected;
}

export function LossesPage() {
  const filter = useUrlFilter('account_id');
  return (
    <ListPage
      title="Conversations that cost more"
      back={{ href: '/dashboard/admin/reports', label: 'Reports' }}
      lead="An account pays a conversation once, and the provider takes money for each message. Counted by the provider's price list and what a credit earns; the limits of an account can bound the messages of a conversation."
      list={usePages<EntryOf<typeof conversationLosses>>('/v2/admin/conversation-losses', filter.values)}
      filter={filter}
      filters={<FilterAccount filter={filter} />}
      caption="Conversations that cost more than they earned"
      rowKey={({ conversation_id }) => conversation_id}
      icon="credits"
      empty="None in the last month, where a price list is set."
      columns={[
        { head: 'Opened', cell: ({ opened_at: at }) => <Time at={at} /> },
        { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
        { head: 'First message', cell: ({ opener }) => <a href={`/dashboard/admin/messages/${opener}`}>{opener}</a> },
        { head: 'Billed messages', kind: 'number', cell: ({ messages }) => number(messages) },
        { head: 'Credits', kind: 'number', cell: ({ credits }) => number(credits) },
        { head: 'Earned', kind: 'number', cell: ({ earned, currency }) => `${earned} ${currency}` },
        { head: 'Cost', kind: 'number', cell: ({ cost, currency }) => `${cost} ${currency}` },
        { head: 'Lost', kind: 'number', cell: ({ lost, currency }) => `${lost} ${currency}` },
      ]}
    />
  );
}

type Own = AnswerOf<typeof accountReports>;
type Admin = AnswerOf<typeof adminReports>;
type Counts = Own['total'] & Partial<Admin['total']>;

type ReportRow = Own['data'][number] & Partial<Admin['data'][number]>;

type Report = Omit<Own, 'total' | 'data'> & { readonly total: Counts; readonly data: readonly ReportRow[] };

type Dimension = readonly [name: keyof ReportRow, label: string];
type Dimensions = readonly Dimension[];

const DIMENSIONS: Dimensions = [
  ['sender', 'Sender'],
  ['template_id', 'Template'],
  ['route', 'Route'],
  ['carrier', 'Carrier'],
  ['country', 'Country'],
  ['category', 'Chat-app category'],
  ['operator', 'Network'],
  ['channel', 'Channel'],
];

function adminDimensions(isOneAccount: boolean): Dimensions {
  const shared = DIMENSIONS.filter(([name]) => isOneAccount || (name !== 'sender' && name !== 'template_id'));
  return [['account_id', 'Account'], ['routed_by', 'Carrier route'], ...shared];
}

function amounts(list: Admin['total']['sales'] = []): string {
  return list.map(({ currency, amount }) => (currency === 'none' ? amount : `${amount} ${currency}`)).join(', ');
}

function daysOf({ from, to }: Pick<Report, 'from' | 'to'>): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}
