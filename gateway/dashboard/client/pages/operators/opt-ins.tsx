import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { addToOptIns, optIns } from '../../../../endpoints/opt-ins/opt-ins.ts';
import { post, remove } from '../../api/http.ts';
import { usePages } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { AccountLink } from '../../parts/account.tsx';
import { TextArea } from '../../parts/field.tsx';
import { type Asking, ListPage } from '../../parts/list.tsx';
import type { PageProps } from '../../parts/page.tsx';
import { number, Time } from '../../parts/value.tsx';

type OptIn = EntryOf<typeof optIns>;

export function OptInsPage({ params: { account_id: account = '' } }: PageProps) {
  const path = `/v2/admin/accounts/${account}/opt-ins`;
  return (
    <ListPage
      title="Opt-ins"
      back={{ href: `/dashboard/admin/accounts/${account}`, label: 'Account' }}
      lead={
        <>
          Who agreed to get chat-app templates of <AccountLink id={account} />. The list counts where the number's
          opt-in is set to the list; it may be filled before that.
        </>
      }
      list={usePages<OptIn>(path)}
      rowKey={({ customer }) => customer}
      icon="users"
      empty="Nobody is on the list."
      columns={[
        { head: 'Customer', cell: ({ customer }) => customer },
        { head: 'Since', cell: ({ since }) => <Time at={since} /> },
      ]}
      add={
        may('admin:support') && {
          words: 'Add customers',
          submit: 'Add to the list',
          fields: (
            <TextArea name="customers" label="Customers" rows={6}>
              One on each line: numbers as people write them, up to 10,000.
            </TextArea>
          ),
          send: async (values) => {
            const body = { customers: values.lines('customers') };
            const { added, known } = await post<AnswerOf<typeof addToOptIns>>(path, body);
            return `${number(added)} added${known > 0 ? `, ${number(known)} were on the list` : ''}.`;
          },
        }
      }
      acts={may('admin:support') && ((row) => [['Take off', row.customer, taking(path, row)]])}
    />
  );
}

function taking(path: string, { customer }: OptIn): Asking {
  return {
    title: `Take ${customer} off the list?`,
    act: 'Take off',
    warning: 'Templates to this customer are refused from then on.',
    send: async () => {
      await remove(`${path}/${encodeURIComponent(customer)}`);
      return `${customer} is off the list.`;
    },
  };
}
