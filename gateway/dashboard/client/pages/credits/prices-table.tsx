import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountPrices } from '../../../../endpoints/prices/prices.ts';
import { number } from '../../parts/number.ts';
import { type Column, Table } from '../../parts/table.tsx';

/** `GET /v2/account/prices`. */
export type Prices = AnswerOf<typeof accountPrices>;
export type Price = Prices['prices'][number];

/** What the account pays; the first line that fits decides. */
export function PricesTable({ prices }: { readonly prices: Prices['prices'] }) {
  if (prices.length === 0) return <p class="soft">An SMS costs 1 credit for each recipient, however long it is.</p>;
  return (
    <Table
      caption="Prices"
      rows={prices.map((price, i) => ({ ...price, place: i + 1 }))}
      rowKey={({ place }) => String(place)}
      columns={COLUMNS}
    />
  );
}

const COLUMNS: readonly Column<Price & { readonly place: number }>[] = [
  { head: 'No.', kind: 'number', cell: ({ place }) => place },
  { head: 'Channel', cell: ({ channel }) => (channel === 'sms' ? 'SMS' : 'Chat-app') },
  { head: 'Country', cell: ({ country }) => country ?? 'all' },
  { head: 'Only', cell: ({ route, started_by: by }) => route ?? (by && `started by ${by}`) ?? '–' },
  { head: 'Credits', kind: 'number', cell: ({ credits }) => number(credits) },
  { head: 'For each', cell: ({ per }) => per },
];
