import { phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import type { EntryOf } from '../../../../api/endpoint.ts';
import type { erasures } from '../../../../endpoints/erasures/erasures.ts';
import { create } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { FormDialog, useDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Badge, number, Time } from '../../parts/value.tsx';

type Erasure = EntryOf<typeof erasures>;

/** Customers of the account who asked to be forgotten. */
export function ErasuresPage() {
  return <Erasures path="/v2/account/erasures" whose="your account" mayErase={may('manage')} />;
}

/** People whom operators erased in all accounts. */
export function OperatorErasuresPage() {
  return <Erasures path="/v2/admin/erasures" whose="all accounts" mayErase={may('admin:support')} />;
}

interface ErasuresProps {
  readonly path: string;
  readonly whose: string;
  readonly mayErase: boolean;
}

function Erasures({ path, whose, mayErase }: ErasuresProps) {
  const list = usePages<Erasure>(path, {});
  const [dialog, open] = useDialog();
  const ask = () =>
    open(
      <FormDialog
        title="Erase a customer?"
        lead="It cannot be undone. What is still on its way is erased when it has ended; new messages to the number are stored as before, so opt the customer out too."
        submit="Erase for good"
        look="danger"
        onSubmit={async (values) => {
          const erased = await create<Erasure>(path, { number: phoneDigits(values.text('number')) });
          list.reload();
          return `${erased.number} is being erased.`;
        }}
      >
        <Field name="number" label="Customer" type="tel" hint="With its country code: +91 98765 43210." />
      </FormDialog>,
    );
  const erase = mayErase && (
    <Button look="primary" onClick={ask}>
      Erase a customer
    </Button>
  );
  return (
    <>
      <PageHead
        title="Erased customers"
        lead={`What was stored of a customer in ${whose} goes: number, texts, reference, what webhooks were told. What messages cost stays, and so does an opt-out.`}
        actions={erase}
      />
      <PagedTable
        list={list}
        caption="Erased customers"
        rowKey={({ erasure_id }) => erasure_id}
        empty={<Empty action={erase}>Nobody has asked to be forgotten.</Empty>}
        columns={[
          { head: 'Customer', cell: (row) => row.number },
          { head: 'Asked', cell: (row) => <Time at={row.requested_at} /> },
          {
            head: 'Status',
            cell: ({ state }) => <Badge tone={state === 'done' ? 'good' : 'info'}>{state}</Badge>,
          },
          { head: 'Messages erased', kind: 'number', cell: (row) => number(row.erased) },
          { head: 'Still waiting', kind: 'number', cell: (row) => number(row.waiting) },
        ]}
      />
      {dialog}
    </>
  );
}
