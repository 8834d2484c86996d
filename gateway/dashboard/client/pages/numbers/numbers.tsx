import type { EntryOf } from '../../../../api/endpoint.ts';
import type { numbers } from '../../../../endpoints/numbers/numbers.ts';
import { usePages } from '../../api/pages.ts';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { CopyId, Time } from '../../parts/value.tsx';

type OwnNumber = EntryOf<typeof numbers>;

/** What customers can write SMS to. */
export function NumbersPage() {
  const list = usePages<OwnNumber>('/v2/account/numbers');
  return (
    <>
      <PageHead
        title="Numbers"
        lead="Customers write SMS to these. What comes is in the inbox, and posted to webhooks."
      />
      <PagedTable
        list={list}
        caption="Numbers"
        rowKey={({ number, keyword }) => `${number} ${keyword}`}
        empty={
          <Empty icon="inbox">
            No numbers yet. Ask your service provider for one that your customers can write to.
          </Empty>
        }
        columns={[
          { head: 'Number', cell: ({ number }) => <CopyId id={number} /> },
          { head: 'Takes', cell: ({ keyword }) => takes(keyword) },
          { head: 'Country', cell: ({ country }) => country ?? '–' },
          { head: 'Yours since', cell: (row) => <Time at={row.created_at} /> },
          {
            head: 'Received',
            cell: ({ number }) => (
              <a href={`/dashboard/inbox/sms?number=${number}`}>
                What was written <span class="hidden">to {number}</span>
              </a>
            ),
          },
        ]}
      />
    </>
  );
}

function takes(keyword: string | null) {
  if (keyword === null) return 'all that no keyword fits';
  return (
    <>
      what begins with <strong>{keyword}</strong>
    </>
  );
}
