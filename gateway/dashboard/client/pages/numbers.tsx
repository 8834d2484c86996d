import type { EntryOf } from '../../../api/endpoint.ts';
import type { numbers } from '../../../endpoints/numbers/numbers.ts';
import type { numbersOfAll } from '../../../endpoints/operators/numbers.ts';
import { post, queryText, remove } from '../api/http.ts';
import { usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { AccountField, AccountLink, FilterAccount } from '../parts/account.tsx';
import { Field } from '../parts/field.tsx';
import { type Adding, type Asking, ListPage, useUrlFilter } from '../parts/list.tsx';
import { CopyId, Time } from '../parts/value.tsx';

type OwnNumber = EntryOf<typeof numbers>;

export function NumbersPage() {
  return (
    <ListPage
      title="Numbers"
      lead="Customers write SMS to these. What comes is in the inbox, and posted to webhooks."
      list={usePages<OwnNumber>('/v2/account/numbers')}
      rowKey={({ number, keyword }) => `${number} ${keyword}`}
      icon="inbox"
      empty="No numbers yet. Ask your service provider for one that your customers can write to."
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

type OperatorNumber = EntryOf<typeof numbersOfAll>;

const PATH = '/v2/admin/numbers';

export function OperatorNumbersPage() {
  const filter = useUrlFilter('account_id');
  return (
    <ListPage
      title="Numbers"
      lead="What handsets write to, and which account gets it."
      list={usePages<OperatorNumber>(PATH, filter.values)}
      filter={filter}
      filters={<FilterAccount filter={filter} />}
      rowKey={called}
      icon="inbox"
      empty="No numbers yet. Add one whose SMS a carrier brings you."
      columns={[
        { head: 'Number', cell: ({ number }) => <strong>{number}</strong> },
        { head: 'Keyword', cell: ({ keyword }) => keyword ?? '–' },
        { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
        { head: 'Country', cell: ({ country }) => country ?? '–' },
        { head: 'Since', cell: (row) => <Time at={row.created_at} /> },
      ]}
      add={may('admin:routing') && ADDING}
      acts={may('admin:routing') && ((row) => [['Take away', called(row), taking(row)]])}
    />
  );
}

const ADDING: Adding = {
  words: 'Add number',
  title: 'Add a number',
  fields: (
    <>
      <Field name="number" label="Number" type="tel">
        With its country code, or a short code.
      </Field>
      <AccountField name="account_id" label="Account" />
      <Field name="keyword" label="Keyword" optional>
        Only SMS that begin with this word.
      </Field>
      <Field name="country" label="Country" optional>
        Two letters. Handsets that come without a country code are taken to be from here.
      </Field>
    </>
  ),
  send: async (values) => {
    await post(PATH, {
      number: values.text('number'),
      account_id: values.text('account_id'),
      keyword: values.optional('keyword'),
      country: values.optional('country'),
    });
    return 'Number added. Workers know it within seconds.';
  },
};

function taking(row: OperatorNumber): Asking {
  return {
    title: `Take ${called(row)} away?`,
    act: 'Take number away',
    warning: 'What handsets write to it reaches no account from then on. What was received stays.',
    send: async () => {
      await remove(`${PATH}/${row.number}${queryText({ keyword: row.keyword ?? '' })}`);
      return `${called(row)} belongs to nobody now.`;
    },
  };
}

function called({ number, keyword }: OperatorNumber): string {
  return keyword === null ? number : `${number} ${keyword}`;
}
