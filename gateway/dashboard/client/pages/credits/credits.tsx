import { queryText } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { lookQuery } from '../../api/looking.ts';
import { usePages } from '../../api/pages.ts';
import { session } from '../../api/session.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { Stats } from '../../parts/facts.tsx';
import { FilterBar, FilterSelect, FilterTime } from '../../parts/filter.tsx';
import { amount, number } from '../../parts/number.ts';
import { Card, Loading, PageHead } from '../../parts/page.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { BalanceStats, type Overview } from './balance-stats.tsx';
import { LowBalanceLine } from './low-balance.tsx';
import { type Prices, PricesTable } from './prices-table.tsx';
import { type Entry, PurposeOf, REASONS } from './purpose.tsx';
import { StatementsCard } from './statements.tsx';

/** What is left, and every change of it. */
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
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty icon="credits">No credits yet. Your service provider adds them.</Empty>
          )
        }
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
