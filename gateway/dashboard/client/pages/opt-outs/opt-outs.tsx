import { useState } from 'preact/hooks';
import { phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import type { EntryOf } from '../../../../api/endpoint.ts';
import type { marketingStops } from '../../../../endpoints/inbox/marketing-stops.ts';
import type { optOuts } from '../../../../endpoints/numbers/opt-outs.ts';
import { create, remove } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm, Dialog, toast } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { FilterBar, FilterText, useUrlFilter } from '../../parts/filter.tsx';
import { Form } from '../../parts/form.tsx';
import { Card, Empty, NoResults, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/value.tsx';

type OptOut = EntryOf<typeof optOuts>;

const PATH = '/v2/account/opt-outs';

/** Customers who want no SMS, and how we know it. */
export function OptOutsPage() {
  const filter = useUrlFilter('customer', 'number');
  const list = usePages<OptOut>(PATH, filter.values);
  const [adding, setAdding] = useState(false);
  const [asked, setAsked] = useState<OptOut>();
  const add = (may('send') || may('manage')) && (
    <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
      Add opt-out
    </Button>
  );
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
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty action={add}>Nobody has opted out. Customers do it by STOP to one of your numbers.</Empty>
          )
        }
        columns={[
          { head: 'Customer', cell: ({ customer }) => <strong>{customer}</strong> },
          { head: 'No SMS of', cell: (row) => row.number ?? 'the whole account' },
          { head: 'Since', cell: (row) => <Time at={row.since} /> },
          { head: 'How we know', cell: sourceOf },
          ...(may('manage')
            ? [
                {
                  head: 'Actions',
                  kind: 'actions' as const,
                  cell: (row: OptOut) => (
                    <Button look="quiet" onClick={() => setAsked(row)}>
                      Remove <span class="hidden">{row.customer}</span>
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      <MarketingStops />
      {may('manage') && (
        <p class="prose">
          A customer asked to be forgotten? <a href="/dashboard/erasures">Erase a customer</a>.
        </p>
      )}
      {adding && <AddDialog onClose={() => setAdding(false)} onDone={list.reload} />}
      {asked && (
        <Confirm
          title={`Send to ${asked.customer} again?`}
          act="Remove opt-out"
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            await remove(`${PATH}/${asked.opt_out_id}`);
            toast(`${asked.customer} gets SMS again.`);
            list.reload();
          }}
        >
          <p>Do it only when the customer asked for it. The audit records it.</p>
        </Confirm>
      )}
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

interface AddProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function AddDialog({ onClose, onDone }: AddProps) {
  return (
    <Dialog title="Add an opt-out" onClose={onClose}>
      <Form
        submit="Add opt-out"
        onCancel={onClose}
        onSubmit={async (values) => {
          const number = phoneDigits(values.text('number'));
          const written = phoneDigits(values.text('customer'));
          const { customer } = await create<OptOut>(PATH, { customer: written, ...(number && { number }) });
          toast(`${customer} gets no more SMS.`);
          onDone();
          onClose();
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
      </Form>
    </Dialog>
  );
}
