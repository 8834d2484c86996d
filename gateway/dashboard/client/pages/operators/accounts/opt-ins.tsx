import type { AnswerOf, EntryOf } from '../../../../../api/endpoint.ts';
import type { addToOptIns, optIns } from '../../../../../endpoints/opt-ins/opt-ins.ts';
import { post, remove } from '../../../api/http.ts';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { AccountLink } from '../../../parts/account.tsx';
import { AddButton } from '../../../parts/button.tsx';
import { Confirm, FormDialog, useDialog } from '../../../parts/dialog.tsx';
import { TextArea } from '../../../parts/field.tsx';
import { Empty, PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { number, Time } from '../../../parts/value.tsx';
import type { PageProps } from '../../../router/route.tsx';

type OptIn = EntryOf<typeof optIns>;

/** Customers who agreed to get templates of an account on the chat-app channel. */
export function OptInsPage({ params: { account_id: account = '' } }: PageProps) {
  const path = `/v2/admin/accounts/${account}/opt-ins`;
  const list = usePages<OptIn>(path);
  const [dialog, open] = useDialog();
  const ask = () =>
    open(
      <FormDialog
        title="Add customers"
        submit="Add to the list"
        onSubmit={async (values) => {
          const body = { customers: values.lines('customers') };
          const { added, known } = await post<AnswerOf<typeof addToOptIns>>(path, body);
          list.reload();
          return `${number(added)} added${known > 0 ? `, ${number(known)} were on the list` : ''}.`;
        }}
      >
        <TextArea
          name="customers"
          label="Customers"
          rows={6}
          hint="One on each line: numbers as people write them, up to 10,000."
        />
      </FormDialog>,
    );
  const drop = ({ customer }: OptIn) =>
    open(
      <Confirm
        title={`Take ${customer} off the list?`}
        act="Take off"
        onConfirm={async () => {
          await remove(`${path}/${encodeURIComponent(customer)}`);
          list.reload();
          return `${customer} is off the list.`;
        }}
      >
        Templates to this customer are refused from then on.
      </Confirm>,
    );
  const add = may('admin:support') && <AddButton onClick={ask}>Add customers</AddButton>;
  return (
    <>
      <PageHead
        title="Opt-ins"
        back={{ href: `/dashboard/admin/accounts/${account}`, label: 'Account' }}
        lead={
          <>
            Who agreed to get chat-app templates of <AccountLink id={account} />. The list counts where the number's
            opt-in is set to the list; it may be filled before that.
          </>
        }
        actions={add}
      />
      <PagedTable
        list={list}
        caption="Opt-ins"
        rowKey={({ customer }) => customer}
        empty={
          <Empty icon="users" action={add}>
            Nobody is on the list.
          </Empty>
        }
        columns={[
          { head: 'Customer', cell: ({ customer }) => customer },
          { head: 'Since', cell: ({ since }) => <Time at={since} /> },
        ]}
        acts={may('admin:support') && ((row) => [['Take off', row.customer, () => drop(row)]])}
      />
      {dialog}
    </>
  );
}
