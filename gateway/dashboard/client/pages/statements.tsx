import type { AnswerOf } from '../../../api/endpoint.ts';
import type { accountStatement } from '../../../endpoints/statements/statements.ts';
import { useLoad } from '../api/load.ts';
import { CHANNEL_WORDS } from '../parts/channel.ts';
import { type Column, Table } from '../parts/list.tsx';
import { exactNow } from '../parts/now.ts';
import { Card, Loading, Notice, PageHead, type PageProps } from '../parts/page.tsx';
import { Button, type Fact, Facts, number, Time } from '../parts/value.tsx';

export function StatementPage({ params }: PageProps) {
  return (
    <StatementOf
      path={`/v2/account/statements/${params.month}`}
      month={params.month ?? ''}
      back={{ href: '/dashboard/credits', label: 'Credits' }}
    />
  );
}

export function AdminStatementPage({ params: { account_id: id, month = '' } }: PageProps) {
  return (
    <StatementOf
      path={`/v2/admin/accounts/${id}/statements/${month}`}
      month={month}
      back={{ href: `/dashboard/admin/accounts/${id}`, label: 'Account' }}
    />
  );
}

interface StatementOfProps {
  readonly path: string;
  readonly month: string;
  readonly back: { readonly href: string; readonly label: string };
}

function StatementOf({ path, month, back }: StatementOfProps) {
  const loaded = useLoad<Statement>(path);
  return (
    <>
      <PageHead
        title={`Statement of ${monthName(month)}`}
        back={back}
        actions={loaded.data && <Button onClick={() => window.print()}>Print statement</Button>}
      />
      <Loading of={loaded}>{(statement) => <Shown statement={statement} />}</Loading>
    </>
  );
}

function Shown({ statement }: { readonly statement: Statement }) {
  const { seller, number: no, money, days, credits, traffic } = statement;
  return (
    <div class="statement">
      {!statement.complete && <Notice tone="warn">This month is not over: its figures change.</Notice>}
      {statement.complete && no === null && <p class="soft">Nothing was bought or used, so it has no number.</p>}
      <div class="columns">
        <Card title="For">
          <Facts facts={factsOf(statement)} />
        </Card>
        {(seller.length > 0 || money?.tax_number) && (
          <Card title="From">
            <Lines
              of={[
                ...seller,
                ...(money?.tax_number
                  ? [`${money.place_of_supply ? 'GSTIN' : money.tax_name}: ${money.tax_number}`]
                  : []),
              ]}
            />
          </Card>
        )}
      </div>
      <Card title="Credits">
        <Table caption="Credits" rows={balanceRows(statement)} rowKey={([what]) => what} columns={BALANCE} compared />
      </Card>
      {money && (
        <Card title={`Amounts in ${money.currency}`} lead={leadOf(money)}>
          <Table
            caption="Amounts"
            rows={[
              ['Bought: top-ups and corrections', money.top_ups] satisfies AmountRow,
              ['Used, without refunds', money.usage] satisfies AmountRow,
            ]}
            rowKey={([what]) => what}
            columns={[
              { head: 'What', cell: ([what]) => what },
              { head: 'Net', kind: 'number', cell: ([, { net }]) => net },
              ...money.usage.taxes.map(({ name, percent }, at) => ({
                head: `${name} ${percent} %`,
                kind: 'number' as const,
                cell: ([, { taxes }]: AmountRow) => taxes[at]?.amount,
              })),
              { head: 'Total', kind: 'number', cell: ([, { total }]) => <strong>{total}</strong> },
            ]}
          />
        </Card>
      )}
      {credits.length > 0 && (
        <Card title="Top-ups and corrections">
          <Table
            caption="Top-ups and corrections"
            rows={credits}
            rowKey={creditKey}
            columns={creditsIn(statement.zone)}
          />
          {statement.credits_more && <p class="soft">There are more. The list of Credits has all.</p>}
        </Card>
      )}
      {days.length > 0 && (
        <Card title="By day">
          <Table caption="By day" rows={days} rowKey={({ day }) => day} columns={DAYS} compared />
        </Card>
      )}
      {traffic.length > 0 && (
        <Card
          title="Messages made in this month"
          lead="Counted by the hour in which a message was made; it may have been paid in another month."
        >
          <Table
            caption="Messages by route and country"
            rows={traffic}
            rowKey={({ channel, route, country }) => `${channel} ${route} ${country}`}
            columns={TRAFFIC}
            compared
          />
        </Card>
      )}
    </div>
  );
}

function factsOf({ buyer, number: no, ...statement }: Statement): readonly Fact[] {
  return [
    ['Name', buyer.name],
    ['Address', buyer.address.length > 0 && <Lines of={buyer.address} />],
    ['GSTIN', buyer.gstin],
    ['State', buyer.state && `${buyer.state.name} (${buyer.state.code})`],
    ['Account', buyer.name !== statement.account_name && statement.account_name],
    ['Statement', no && <code>{no}</code>],
    ['Issued', statement.issued_on],
    ['Time', `${statement.from} to ${statement.to}, ${statement.zone}`],
  ];
}

type Money = NonNullable<Statement['money']>;
type AmountRow = readonly [what: string, amounts: Money['usage']];

function leadOf({ credit_price, currency, service_code, place_of_supply: place }: Money): string {
  return [
    `A credit for messages costs ${credit_price} ${currency}.`,
    ...(service_code === null ? [] : [`Service code ${service_code}.`]),
    ...(place === null ? [] : [`Place of supply: ${place.name} (${place.code}).`]),
  ].join(' ');
}

function Lines({ of }: { readonly of: readonly string[] }) {
  return (
    <p class="seller">
      {of.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </p>
  );
}

function balanceRows(statement: Statement): readonly (readonly [string, number])[] {
  const { refunds } = statement;
  return [
    ['Opening balance', statement.opening_balance],
    ['Top-ups', statement.top_ups],
    ['Corrections', statement.corrections],
    [refunds === null ? 'Used, without refunds' : 'Used', statement.usage],
    ...(refunds === null ? [] : [['Refunds', refunds] as const]),
    ['Closing balance', statement.closing_balance],
  ];
}

const BALANCE: readonly Column<readonly [string, number]>[] = [
  { head: 'What', cell: ([what]) => (what.endsWith('balance') ? <strong>{what}</strong> : what) },
  {
    head: 'Credits',
    kind: 'number',
    cell: ([what, credits]) => (what.endsWith('balance') ? <strong>{number(credits)}</strong> : number(credits)),
  },
];

type Credit = Statement['credits'][number];

function creditKey({ at, reference, amount }: Credit): string {
  return `${at} ${reference} ${amount}`;
}

/** In the statement's zone: in another one its first hours may belong to another month. */
const creditsIn = (zone: string): readonly Column<Credit>[] => [
  { head: 'When', cell: ({ at }) => <Time at={at} full zone={zone} /> },
  { head: 'What', cell: ({ reason }) => (reason === 'top_up' ? 'Top-up' : 'Correction') },
  { head: 'Reference', cell: ({ reference, note }) => [reference, note].filter(Boolean).join(': ') },
  { head: 'Credits', kind: 'number', cell: ({ amount }) => number(amount) },
];

const DAYS: readonly Column<Statement['days'][number]>[] = [
  { head: 'Day', cell: ({ day }) => day },
  { head: 'Top-ups', kind: 'number', cell: ({ top_ups }) => number(top_ups) },
  { head: 'Corrections', kind: 'number', cell: ({ corrections }) => number(corrections) },
  { head: 'Used', kind: 'number', cell: ({ usage }) => number(usage) },
  { head: 'Refunds', kind: 'number', cell: ({ refunds }) => (refunds === null ? 'in “Used”' : number(refunds)) },
  { head: 'Balance', kind: 'number', cell: ({ balance }) => number(balance) },
];

const TRAFFIC: readonly Column<Statement['traffic'][number]>[] = [
  { head: 'Channel', cell: ({ channel }) => CHANNEL_WORDS[channel] },
  { head: 'Route', cell: ({ route }) => route ?? '–' },
  { head: 'Country', cell: ({ country }) => country ?? '–' },
  { head: 'Messages', kind: 'number', cell: ({ messages }) => number(messages) },
  { head: 'Segments', kind: 'number', cell: ({ segments }) => number(segments) },
  { head: 'Credits', kind: 'number', cell: ({ credits }) => number(credits) },
];

type Statement = AnswerOf<typeof accountStatement>;

const words = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** "November 2026" */
function monthName(month: string): string {
  const date = new Date(`${month}-01T00:00:00Z`);
  return Number.isNaN(date.getTime()) ? month : words.format(date);
}

interface StatementsProps {
  readonly base: string;
  readonly since: string;
  /** When a closed account was settled; nothing moves after that. */
  readonly until?: string | undefined;
}

/** Links to the statements of the newest months, made for printing. */
export function StatementsCard({ base, since, until }: StatementsProps) {
  return (
    <Card title="Statements of months" lead="Opening and closing balance and what lies between, to print.">
      <ul class="months">
        {lastMonths(since, new Date(until ?? exactNow())).map((month) => (
          <li key={month}>
            <a href={`${base}/${month}`}>{monthName(month)}</a>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** At most twelve, newest first. */
function lastMonths(since: string, last: Date): string[] {
  const months = Array.from({ length: 12 }, (_, i) =>
    new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  );
  return months.filter((month) => month >= since.slice(0, 7));
}
