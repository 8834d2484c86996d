import { useState } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../../../api/endpoint.ts';
import type { addToOptIns, optIns } from '../../../../../endpoints/opt-ins/opt-ins.ts';
import { post, remove } from '../../../api/http.ts';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { AccountLink } from '../../../parts/account.tsx';
import { Button } from '../../../parts/button.tsx';
import { Confirm, Dialog, toast } from '../../../parts/dialog.tsx';
import { TextArea } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import { Empty, PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { number, Time } from '../../../parts/value.tsx';
import type { PageProps } from '../../../router/route.tsx';

type OptIn = EntryOf<typeof optIns>;

/** Customers who agreed to get templates of an account on the chat-app channel. */
export function OptInsPage({ params: { account_id: account = '' } }: PageProps) {
  const path = `/v2/admin/accounts/${account}/opt-ins`;
  const list = usePages<OptIn>(path);
  const [adding, setAdding] = useState(false);
  const [asked, setAsked] = useState<OptIn>();
  const add = may('admin:support') && (
    <Button look="primary" icon="plus" onClick={() => setAdding(true)}>
      Add customers
    </Button>
  );
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
          ...(may('admin:support')
            ? [
                {
                  head: 'Actions',
                  kind: 'actions' as const,
                  cell: (row: OptIn) => (
                    <Button look="quiet" onClick={() => setAsked(row)}>
                      Take off <span class="hidden">{row.customer}</span>
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {adding && <AddDialog path={path} onClose={() => setAdding(false)} onDone={list.reload} />}
      {asked && (
        <Confirm
          title={`Take ${asked.customer} off the list?`}
          act="Take off"
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            await remove(`${path}/${encodeURIComponent(asked.customer)}`);
            toast(`${asked.customer} is off the list.`);
            list.reload();
          }}
        >
          <p>Templates to this customer are refused from then on.</p>
        </Confirm>
      )}
    </>
  );
}

interface AddProps {
  readonly path: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function AddDialog({ path, onClose, onDone }: AddProps) {
  return (
    <Dialog title="Add customers" onClose={onClose}>
      <Form
        submit="Add to the list"
        onCancel={onClose}
        onSubmit={async (values) => {
          const { added, known } = await post<AnswerOf<typeof addToOptIns>>(path, {
            customers: values.lines('customers'),
          });
          toast(`${number(added)} added${known > 0 ? `, ${number(known)} were on the list` : ''}.`);
          onDone();
          onClose();
        }}
      >
        <TextArea
          name="customers"
          label="Customers"
          rows={6}
          hint="One on each line: numbers as people write them, up to 10,000."
        />
      </Form>
    </Dialog>
  );
}
