import { phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import type { EntryOf } from '../../../../api/endpoint.ts';
import type { marketingStops } from '../../../../endpoints/inbox/inbox.ts';
import type { optOuts } from '../../../../endpoints/numbers/numbers.ts';
import { create, remove } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may, mayAny } from '../../api/session.ts';
import { AddButton } from '../../parts/button.tsx';
import { Confirm, FormDialog, useDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FilterBar, FilterText, useUrlFilter } from '../../parts/filter.tsx';
import { Card, Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/value.tsx';

type OptOut = EntryOf<typeof optOuts>;

const PATH = '/v2/account/opt-outs';

/** Customers who want no SMS, and how we know it. */
export function OptOutsPage() {
  const filter = useUrlFilter('customer', 'number');
  const list = usePages<OptOut>(PATH, filter.values);
  const [dialog, open] = useDialog();
  const ask = () =>
    open(
      <FormDialog
        title="Add an opt-out"
        submit="Add opt-out"
        onSubmit={async (values) => {
          const number = phoneDigits(values.text('number')) || undefined;
          const added = await create<OptOut>(PATH, { customer: phoneDigits(values.text('customer')), number });
          list.reload();
          return `${added.customer} gets no more SMS.`;
        }}
      >
        <Field
          name="customer"
          label="Customer"
          type="tel"
          hint="With its country code: +91 98765 43210. Without one it is a number of your country."
        />
        <Field
          name="number"
          label="Your number"
          optional
          inputMode="numeric"
          hint="Only SMS of this number are refused. Empty: all SMS of the account."
        />
      </FormDialog>,
    );
  const drop = ({ opt_out_id: id, customer }: OptOut) =>
    open(
      <Confirm
        title={`Send to ${customer} again?`}
        act="Remove opt-out"
        onConfirm={async () => {
          await remove(`${PATH}/${id}`);
          list.reload();
          return `${customer} gets SMS again.`;
        }}
      >
        Do it only when the customer asked for it. The audit records it.
      </Confirm>,
    );
  const add = mayAny('send', 'manage') && <AddButton onClick={ask}>Add opt-out</AddButton>;
  return (
    <>
      <PageHead
        title="Opt-outs"
        lead="Customers who want no SMS from you. SMS to them are refused and cost nothing. Chat-app messages are not concerned: whose marketing is stopped there stands below."
        actions={add}
      />
      <FilterBar filter={filter}>
        <FilterText filter={filter} name="customer" label="Customer" placeholder="919876543210" />
        <FilterText filter={filter} name="number" label="Your number" placeholder="919000000001" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Opt-outs"
        rowKey={({ opt_out_id }) => opt_out_id}
        filter={filter}
        empty={<Empty action={add}>Nobody has opted out. Customers do it by STOP to one of your numbers.</Empty>}
        columns={[
          { head: 'Customer', cell: ({ customer }) => <strong>{customer}</strong> },
          { head: 'No SMS of', cell: (row) => row.number ?? 'the whole account' },
          { head: 'Since', cell: (row) => <Time at={row.since} /> },
          { head: 'How we know', cell: sourceOf },
        ]}
        acts={may('manage') && ((row) => [['Remove', row.customer, () => drop(row)]])}
      />
      <MarketingStops />
      {may('manage') && (
        <p class="prose">
          A customer asked to be forgotten? <a href="/dashboard/erasures">Erase a customer</a>.
        </p>
      )}
      {dialog}
    </>
  );
}

/** What customers told the chat-app provider. Only they can take it back. */
function MarketingStops() {
  const list = usePages<EntryOf<typeof marketingStops>>('/v2/account/marketing-stops');
  return (
    <Card
      title="No marketing on the chat-app channel"
      lead="Customers who stopped it in the chat app. Marketing templates to them are refused and cost nothing; other templates and answers go."
    >
      <PagedTable
        list={list}
        caption="No marketing on the chat-app channel"
        rowKey={({ customer }) => customer}
        empty={<Empty>Nobody has stopped it.</Empty>}
        columns={[
          { head: 'Customer', cell: ({ customer }) => <a href={`/dashboard/inbox/${customer}`}>{customer}</a> },
          { head: 'Since', cell: (row) => <Time at={row.since} /> },
        ]}
      />
    </Card>
  );
}

function sourceOf({ source, word }: OptOut): string {
  if (source === 'inbound') return word === undefined ? 'The customer wrote it' : `The customer wrote “${word}”`;
  return { api: 'Added here or by the API', ops: 'Added by the operator', import: 'Added from a file' }[source];
}
