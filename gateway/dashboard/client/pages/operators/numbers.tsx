import type { EntryOf } from '../../../../api/endpoint.ts';
import type { numbersOfAll } from '../../../../endpoints/operators/numbers.ts';
import { post, queryText, remove } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AccountField, AccountLink, FilterAccount } from '../../parts/account.tsx';
import { AddButton } from '../../parts/button.tsx';
import { Confirm, FormDialog, useDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FilterBar, useUrlFilter } from '../../parts/filter.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/value.tsx';

type OperatorNumber = EntryOf<typeof numbersOfAll>;

const PATH = '/v2/admin/numbers';

/** Numbers that handsets write to, and whose they are. */
export function OperatorNumbersPage() {
  const filter = useUrlFilter('account_id');
  const list = usePages<OperatorNumber>(PATH, filter.values);
  const [dialog, open] = useDialog();
  const ask = () =>
    open(
      <FormDialog
        title="Add a number"
        submit="Add number"
        onSubmit={async (values) => {
          await post(PATH, {
            number: values.text('number'),
            account_id: values.text('account_id'),
            keyword: values.optional('keyword'),
            country: values.optional('country'),
          });
          list.reload();
          return 'Number added. Workers know it within seconds.';
        }}
      >
        <Field name="number" label="Number" type="tel" hint="With its country code, or a short code." />
        <AccountField name="account_id" label="Account" />
        <Field name="keyword" label="Keyword" optional hint="Only SMS that begin with this word." />
        <Field
          name="country"
          label="Country"
          optional
          hint="Two letters. Handsets that come without a country code are taken to be from here."
        />
      </FormDialog>,
    );
  const take = (row: OperatorNumber) =>
    open(
      <Confirm
        title={`Take ${called(row)} away?`}
        act="Take number away"
        onConfirm={async () => {
          await remove(`${PATH}/${row.number}${queryText({ keyword: row.keyword ?? '' })}`);
          list.reload();
          return `${called(row)} belongs to nobody now.`;
        }}
      >
        What handsets write to it reaches no account from then on. What was received stays.
      </Confirm>,
    );
  const add = may('admin:routing') && <AddButton onClick={ask}>Add number</AddButton>;
  return (
    <>
      <PageHead title="Numbers" lead="What handsets write to, and which account gets it." actions={add} />
      <FilterBar filter={filter}>
        <FilterAccount filter={filter} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Numbers"
        rowKey={called}
        filter={filter}
        empty={
          <Empty icon="inbox" action={add}>
            No numbers yet. Add one whose SMS a carrier brings you.
          </Empty>
        }
        columns={[
          { head: 'Number', cell: ({ number }) => <strong>{number}</strong> },
          { head: 'Keyword', cell: ({ keyword }) => keyword ?? '–' },
          { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
          { head: 'Country', cell: ({ country }) => country ?? '–' },
          { head: 'Since', cell: (row) => <Time at={row.created_at} /> },
        ]}
        acts={may('admin:routing') && ((row) => [['Take away', called(row), () => take(row)]])}
      />
      {dialog}
    </>
  );
}

function called({ number, keyword }: OperatorNumber): string {
  return keyword === null ? number : `${number} ${keyword}`;
}
