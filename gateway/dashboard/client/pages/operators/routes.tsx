import { useState } from 'preact/hooks';
import { phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { explain, putRoute, routes } from '../../../../endpoints/routing/routes.ts';
import { get, put, remove } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { AccountField, AccountLink, AccountsField } from '../../parts/account.tsx';
import { Checkboxes, Field, Select, useFieldError } from '../../parts/field.tsx';
import { Confirm, Form, FormDialog, type FormValues, toast, useDialog } from '../../parts/form.tsx';
import { Table } from '../../parts/list.tsx';
import { Card, Empty, Loading, PageHead } from '../../parts/page.tsx';
import { AddButton, Button } from '../../parts/value.tsx';
import { DaytimeFields, daytimeOf } from '../limits.tsx';
import type { Carriers } from './carriers.tsx';

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

/** Replaces account ids in a text by account names. */
function Words({ of: words }: { readonly of: string }) {
  return words
    .split(/(acc_\w+)/)
    .map((part) => (part.startsWith('acc_') ? <AccountLink key={part} id={part} /> : part));
}

type Explanation = AnswerOf<typeof explain>;

const GROUPS = [
  ['transactional', 'Transactional'],
  ['promotional', 'Promotional'],
] as const;

/** Shows which carrier would take a message now; sends nothing. */
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
        <Field name="to" label="Recipient" inputMode="tel">
          Country code first: 919876543210.
        </Field>
        <AccountField name="account_id" label="Account" />
        <Field name="sender" label="Sender" optional />
        <Select name="route" label="Route" options={GROUPS} />
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

interface RouteDialogProps {
  readonly route: Route | undefined;
  readonly onDone: () => void;
}

const NEW_ROUTE = { order: 0, wait_seconds: 30, receipt_failover_seconds: 0 };

function RouteDialog({ route, onDone }: RouteDialogProps) {
  const carriers = useLoad<Carriers>('/v2/admin/carriers');
  const [groups, setGroups] = useState<Route['groups']>(route?.groups ?? []);
  const save = async (values: FormValues) => {
    const name = route?.route_id ?? values.text('name');
    const asked = CONDITIONS.flatMap(([member]) => {
      const given = several(values.text(`matches.${member}`));
      return given.length === 0 ? [] : [[member, given] as const];
    });
    const ticked = CHOICES.flatMap(([member]) => {
      const given = values.all(`matches.${member}`);
      return given.length === 0 ? [] : [[member, given] as const];
    });
    const accounts = several(values.text('matches.accounts'));
    const { warning } = await put<ChangedRoute>(`/v2/admin/routes/${encodeURIComponent(name)}`, {
      matches: { ...Object.fromEntries([...asked, ...ticked]), ...(accounts.length > 0 && { accounts }) },
      groups,
      order: values.number('order') ?? 0,
      wait_seconds: values.number('wait_seconds') ?? 30,
      receipt_failover_seconds: values.number('receipt_failover_seconds') ?? 0,
      ...daytimeOf(values),
      price: values.optional('price'),
    });
    toast(warning ?? 'Saved. Everybody follows it within two seconds.', warning === null ? 'good' : 'bad');
    onDone();
  };
  return (
    <FormDialog
      title={route === undefined ? 'Add route' : `Change the route ${route.route_id}`}
      submit={route === undefined ? 'Add route' : 'Change route'}
      of={route ?? NEW_ROUTE}
      onSubmit={save}
    >
      {route === undefined && (
        <Field name="name" label="Name">
          1 to 32 of a-z, 0-9 and -.
        </Field>
      )}
      <Loading of={carriers}>
        {(data) => <GroupFields groups={groups} carriers={data.carriers} onChange={setGroups} />}
      </Loading>
      <p class="hint">
        Which messages: of each condition that is given, one of its words must fit. None: all messages.
      </p>
      {CONDITIONS.map(([member, label, hint]) => (
        <Field key={member} name={`matches.${member}`} label={label} optional>
          {hint}
        </Field>
      ))}
      <AccountsField name="matches.accounts" label="Accounts" optional initial={route?.matches.accounts ?? []} />
      {CHOICES.map(([member, legend, options]) => (
        <Checkboxes
          key={member}
          name={`matches.${member}`}
          legend={legend}
          options={options.map(([value, label]) => ({ value, label }))}
        />
      ))}
      <Field name="order" label="Order" inputMode="numeric">
        A higher one is looked at first.
      </Field>
      <Field name="wait_seconds" label="Seconds until the next carrier helps" inputMode="numeric" />
      <Field
        name="receipt_failover_seconds"
        label="Seconds in which a receipt sends it to the next carrier"
        inputMode="numeric"
      >
        0: never. Once, for errors of the carrier's setting “receiptFailover”. The recipient may get it twice.
      </Field>
      <DaytimeFields />
      <Field name="price" label="Price" optional>
        Like 0.12 INR. For reports only.
      </Field>
    </FormDialog>
  );
}

type Groups = Route['groups'];

interface GroupFieldsProps {
  readonly groups: Groups;
  readonly carriers: Carriers['carriers'];
  readonly onChange: (groups: Groups) => void;
}

/** Carriers of one group share the traffic by weight; the next group takes over when one is down or waits too long. */
function GroupFields({ groups, carriers, onChange }: GroupFieldsProps) {
  const error = useFieldError('groups');
  const options = carriers.map(({ carrier_id: id, name }) => [id, name === id ? id : `${name} (${id})`] as const);
  const first = carriers[0]?.carrier_id ?? '';
  const another = (group: Groups[number]) =>
    carriers.find(({ carrier_id: id }) => group.every(({ carrier }) => carrier !== id))?.carrier_id ?? first;
  const change = (at: number, group: Groups[number]) =>
    onChange(group.length === 0 ? groups.filter((_, i) => i !== at) : groups.with(at, group));
  return (
    <fieldset class="field" name="groups">
      <legend>Carriers</legend>
      {groups.length === 0 && <p class="hint">No carrier: what matches is refused.</p>}
      {groups.map((group, g) => (
        <fieldset key={g} class="group">
          <legend>{g === 0 ? 'First' : `Then, group ${g + 1}`}</legend>
          {group.map(({ carrier, weight }, c) => (
            <div key={c} class="weighted">
              <Select
                name={`carrier ${g} ${c}`}
                label="Carrier"
                options={options}
                value={carrier}
                onInput={(chosen) => change(g, group.with(c, { carrier: chosen, weight }))}
              />
              <Field
                name={`weight ${g} ${c}`}
                label="Weight"
                inputMode="numeric"
                value={String(weight)}
                onInput={(text) => change(g, group.with(c, { carrier, weight: Number(text) || 0 }))}
              />
              <Button
                look="quiet"
                onClick={() =>
                  change(
                    g,
                    group.filter((_, at) => at !== c),
                  )
                }
              >
                Remove <span class="hidden">{carrier}</span>
              </Button>
            </div>
          ))}
          <Button
            look="quiet"
            icon="plus"
            onClick={() => change(g, [...group, { carrier: another(group), weight: 1 }])}
          >
            Share with another carrier
          </Button>
        </fieldset>
      ))}
      <Button icon="plus" onClick={() => onChange([...groups, [{ carrier: first, weight: 1 }]])}>
        {groups.length === 0 ? 'Add a carrier' : 'Add who takes over'}
      </Button>
      {error && <p class="error">{error}</p>}
    </fieldset>
  );
}

export type Routes = AnswerOf<typeof routes>;
export type Route = Routes['routes'][number];

type ChangedRoute = AnswerOf<typeof putRoute>;

/** Conditions that are lists of words. */
const CONDITIONS = [
  ['countries', 'Countries', 'Two letters, with commas: IN, AE'],
  ['prefixes', 'Prefixes', 'First digits, country code first: 9198'],
  ['senders', 'Senders', 'HARKRA, HRKOTP'],
] as const;

function several(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** Conditions chosen by ticking boxes. */
const CHOICES = [
  [
    'routes',
    'Routes of messages',
    [
      ['transactional', 'Transactional'],
      ['promotional', 'Promotional'],
    ],
  ],
  [
    'priorities',
    'Priorities',
    [
      ['otp', 'OTP'],
      ['normal', 'Normal'],
      ['low', 'Low'],
    ],
  ],
  [
    'senderKinds',
    'Kinds of senders',
    [
      ['name', 'Names'],
      ['number', 'Numbers'],
      ['short', 'Short codes'],
    ],
  ],
] as const;
