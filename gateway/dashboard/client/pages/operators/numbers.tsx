import { useState } from 'preact/hooks';
import type { EntryOf } from '../../../../api/endpoint.ts';
import type { numbersOfAll } from '../../../../endpoints/operators/numbers.ts';
import { post, queryText, remove } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AccountField, AccountLink, FilterAccount } from '../../parts/account.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm, Dialog, toast } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FilterBar, useUrlFilter } from '../../parts/filter.tsx';
import { Form } from '../../parts/form.tsx';
import { Empty, NoResults, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/value.tsx';

type OperatorNumber = EntryOf<typeof numbersOfAll>;

const PATH = '/v2/admin/numbers';

/** Numbers that handsets write to, and whose they are. */
export function OperatorNumbersPage() {
  const filter = useUrlFilter('account_id');
  const list = usePages<OperatorNumber>(PATH, filter.values);
  const [adding, setAdding] = useState(false);
  const [asked, setAsked] = useState<OperatorNumber>();
  const add = may('admin:routing') && (
    <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
      Add number
    </Button>
  );
  const empty = filter.isSet ? (
    <NoResults clear={filter.clear} />
  ) : (
    <Empty icon="inbox" action={add}>
      No numbers yet. Add one whose SMS a carrier brings you.
    </Empty>
  );
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
        empty={empty}
        columns={[
          { head: 'Number', cell: ({ number }) => <strong>{number}</strong> },
          { head: 'Keyword', cell: ({ keyword }) => keyword ?? '–' },
          { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
          { head: 'Country', cell: ({ country }) => country ?? '–' },
          { head: 'Since', cell: (row) => <Time at={row.created_at} /> },
          ...(may('admin:routing')
            ? [
                {
                  head: 'Actions',
                  kind: 'actions' as const,
                  cell: (row: OperatorNumber) => (
                    <Button look="quiet" onClick={() => setAsked(row)}>
                      Take away <span class="hidden">{called(row)}</span>
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {adding && <AddDialog onClose={() => setAdding(false)} onDone={list.reload} />}
      {asked && (
        <Confirm
          title={`Take ${called(asked)} away?`}
          act="Take number away"
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            await remove(`${PATH}/${asked.number}${queryText({ keyword: asked.keyword ?? '' })}`);
            toast(`${called(asked)} belongs to nobody now.`);
            list.reload();
          }}
        >
          <p>What handsets write to it reaches no account from then on. What was received stays.</p>
        </Confirm>
      )}
    </>
  );
}

function called({ number, keyword }: OperatorNumber): string {
  return keyword === null ? number : `${number} ${keyword}`;
}

interface AddProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function AddDialog({ onClose, onDone }: AddProps) {
  return (
    <Dialog title="Add a number" onClose={onClose}>
      <Form
        submit="Add number"
        onCancel={onClose}
        onSubmit={async (values) => {
          const [keyword, country] = [values.optional('keyword'), values.optional('country')];
          const given = { number: values.text('number'), account_id: values.text('account_id') };
          await post(PATH, { ...given, ...(keyword && { keyword }), ...(country && { country }) });
          toast('Number added. Workers know it within seconds.');
          onDone();
          onClose();
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
      </Form>
    </Dialog>
  );
}
