import { useState } from 'preact/hooks';
import { phoneDigits } from '../../../../../../shared/platform/sheets/cell.ts';
import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { explain } from '../../../../../endpoints/routing/routes.ts';
import { get, remove } from '../../../api/http.ts';
import { useLoad } from '../../../api/load.ts';
import { may } from '../../../api/session.ts';
import { AccountField, AccountLink } from '../../../parts/account.tsx';
import { AddButton } from '../../../parts/button.tsx';
import { Confirm, useDialog } from '../../../parts/dialog.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form, type FormValues } from '../../../parts/form.tsx';
import { Card, Empty, Loading, PageHead } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { type Route, RouteDialog, type Routes } from './route-dialog.tsx';

/** Which carriers take which messages. */
export function RoutesPage() {
  const loaded = useLoad<Routes>('/v2/admin/routes');
  const [dialog, open] = useDialog();
  const edit = (route?: Route) => open(<RouteDialog route={route} onDone={loaded.reload} />);
  const drop = (id: string) =>
    open(
      <Confirm
        title={`Remove the route ${id}?`}
        act="Remove route"
        typed={id}
        onConfirm={async () => {
          await remove(`/v2/admin/routes/${id}`);
          loaded.reload();
          return 'Route removed.';
        }}
      >
        What waits goes by the other routes. What no route matches is refused with no_route.
      </Confirm>,
    );
  const add = may('admin:routing') && <AddButton onClick={() => edit()}>Add route</AddButton>;
  return (
    <>
      <PageHead title="Routes" lead="Which carriers take which messages, in which order." actions={add} />
      <Loading of={loaded}>
        {({ routes }) =>
          routes.length === 0 ? (
            <Empty icon="carrier">No routes: each carrier takes what its setting “Paths” says.</Empty>
          ) : (
            <Table
              caption="Routes"
              rows={routes}
              rowKey={({ route_id }) => route_id}
              columns={[
                { head: 'Route', cell: ({ route_id }) => route_id },
                { head: 'Matches → carriers', cell: ({ words }) => <Words of={words} /> },
                { head: 'Order', kind: 'number', cell: ({ order }) => order },
                { head: 'Next one after', cell: ({ wait_seconds }) => `${wait_seconds} s` },
              ]}
              acts={
                may('admin:routing') &&
                ((row) => [
                  ['Change', row.route_id, () => edit(row)],
                  ['Remove', row.route_id, () => drop(row.route_id)],
                ])
              }
            />
          )
        }
      </Loading>
      <ExplainCard />
      {dialog}
    </>
  );
}

/** Accounts stand in the words by their ids. */
function Words({ of: words }: { readonly of: string }) {
  return words
    .split(/(acc_\w+)/)
    .map((part) => (part.startsWith('acc_') ? <AccountLink key={part} id={part} /> : part));
}

/** As `GET /v2/admin/routes/explain` shows it. */
type Explanation = AnswerOf<typeof explain>;

const GROUPS = [
  ['transactional', 'Transactional'],
  ['promotional', 'Promotional'],
] as const;

/** Who would carry a message now. Sends nothing. */
function ExplainCard() {
  const [found, setFound] = useState<Explanation>();
  const ask = async (values: FormValues) => {
    setFound(
      await get<Explanation>('/v2/admin/routes/explain', {
        to: phoneDigits(values.text('to')),
        account_id: values.text('account_id'),
        sender: values.text('sender'),
        route: values.text('route'),
      }),
    );
  };
  return (
    <Card title="Who would carry it?" lead="Says who would carry a message now, and why. Sends nothing.">
      <Form submit="Explain" look="plain" onSubmit={ask}>
        <Field name="to" label="Recipient" inputMode="tel" hint="Country code first: 919876543210." />
        <AccountField name="account_id" label="Account" />
        <Field name="sender" label="Sender" optional />
        <Select name="route" label="Route" options={GROUPS} initial="transactional" />
      </Form>
      <div role="status">
        {found && (
          <>
            <p>
              <strong>{found.verdict}</strong> {found.by}
            </p>
            <ol>
              {found.carriers.map(({ carrier_id: id, words, takes }) => (
                <li key={id}>
                  <a href={`/dashboard/admin/carriers/${id}`}>{id}</a>: {words}
                  {takes ? ', takes it' : ''}
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </Card>
  );
}
