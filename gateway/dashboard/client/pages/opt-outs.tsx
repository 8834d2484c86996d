import { phoneDigits } from '../../../../shared/platform/sheets/cell.ts';
import type { EntryOf } from '../../../api/endpoint.ts';
import type { erasures } from '../../../endpoints/erasures/erasures.ts';
import type { marketingStops } from '../../../endpoints/inbox/inbox.ts';
import type { optOuts } from '../../../endpoints/numbers/numbers.ts';
import { create, remove } from '../api/http.ts';
import { usePages } from '../api/load.ts';
import { may, mayAny } from '../api/session.ts';
import { Field } from '../parts/field.tsx';
import { type Adding, type Asking, FilterText, ListPage, PagedTable, useUrlFilter } from '../parts/list.tsx';
import { Card, Empty } from '../parts/page.tsx';
import { Badge, number, Time } from '../parts/value.tsx';

type OptOut = EntryOf<typeof optOuts>;

const PATH = '/v2/account/opt-outs';

export function OptOutsPage() {
  const filter = useUrlFilter('customer', 'number');
  const list = usePages<OptOut>(PATH, filter.values);
  return (
    <ListPage
      title="Opt-outs"
      lead="Customers who want no SMS from you. SMS to them are refused and cost nothing. Chat-app messages are not concerned: whose marketing is stopped there stands below."
      list={list}
      filter={filter}
      filters={
        <>
          <FilterText filter={filter} name="customer" label="Customer" placeholder="919876543210" />
          <FilterText filter={filter} name="number" label="Your number" placeholder="919000000001" />
        </>
      }
      rowKey={({ opt_out_id }) => opt_out_id}
      empty="Nobody has opted out. Customers do it by STOP to one of your numbers."
      columns={[
        { head: 'Customer', cell: ({ customer }) => <strong>{customer}</strong> },
        { head: 'No SMS of', cell: (row) => row.number ?? 'the whole account' },
        { head: 'Since', cell: (row) => <Time at={row.since} /> },
        { head: 'How we know', cell: sourceOf },
      ]}
      add={mayAny('send', 'manage') && ADDING}
      acts={may('manage') && ((row) => [['Remove', row.customer, removing(row)]])}
      after={
        <>
          <MarketingStops />
          {may('manage') && (
            <p class="prose">
              A customer asked to be forgotten? <a href="/dashboard/erasures">Erase a customer</a>.
            </p>
          )}
        </>
      }
    />
  );
}

const ADDING: Adding = {
  words: 'Add opt-out',
  title: 'Add an opt-out',
  fields: (
    <>
      <Field name="customer" label="Customer" type="tel">
        With its country code: +91 98765 43210. Without one it is a number of your country.
      </Field>
      <Field name="number" label="Your number" optional inputMode="numeric">
        Only SMS of this number are refused. Empty: all SMS of the account.
      </Field>
    </>
  ),
  send: async (values) => {
    const number = phoneDigits(values.text('number')) || undefined;
    const added = await create<OptOut>(PATH, { customer: phoneDigits(values.text('customer')), number });
    return `${added.customer} gets no more SMS.`;
  },
};

function removing({ opt_out_id: id, customer }: OptOut): Asking {
  return {
    title: `Send to ${customer} again?`,
    act: 'Remove opt-out',
    warning: 'Do it only when the customer asked for it. The audit records it.',
    send: async () => {
      await remove(`${PATH}/${id}`);
      return `${customer} gets SMS again.`;
    },
  };
}

/** Customers who stopped marketing messages at the chat-app provider. Only they can undo it. */
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

type Erasure = EntryOf<typeof erasures>;

export function ErasuresPage() {
  return <Erasures path="/v2/account/erasures" whose="your account" mayErase={may('manage')} />;
}

export function OperatorErasuresPage() {
  return <Erasures path="/v2/admin/erasures" whose="all accounts" mayErase={may('admin:support')} />;
}

interface ErasuresProps {
  readonly path: string;
  readonly whose: string;
  readonly mayErase: boolean;
}

function Erasures({ path, whose, mayErase }: ErasuresProps) {
  const list = usePages<Erasure>(path);
  return (
    <ListPage
      title="Erased customers"
      lead={`What was stored of a customer in ${whose} goes: number, texts, reference, what webhooks were told. What messages cost stays, and so does an opt-out.`}
      list={list}
      rowKey={({ erasure_id }) => erasure_id}
      empty="Nobody has asked to be forgotten."
      columns={[
        { head: 'Customer', cell: (row) => row.number },
        { head: 'Asked', cell: (row) => <Time at={row.requested_at} /> },
        { head: 'Status', cell: ({ state }) => <Badge tone={state === 'done' ? 'good' : 'info'}>{state}</Badge> },
        { head: 'Messages erased', kind: 'number', cell: (row) => number(row.erased) },
        { head: 'Still waiting', kind: 'number', cell: (row) => number(row.waiting) },
      ]}
      add={
        mayErase && {
          words: 'Erase a customer',
          title: 'Erase a customer?',
          lead: 'It cannot be undone. What is still on its way is erased when it has ended; new messages to the number are stored as before, so opt the customer out too.',
          submit: 'Erase for good',
          look: 'danger',
          fields: (
            <Field name="number" label="Customer" type="tel">
              With its country code: +91 98765 43210.
            </Field>
          ),
          send: async (values) => {
            const erased = await create<Erasure>(path, { number: phoneDigits(values.text('number')) });
            return `${erased.number} is being erased.`;
          },
        }
      }
    />
  );
}
