import { useState } from 'preact/hooks';
import { put } from '../../../api/http.ts';
import { useLoad } from '../../../api/load.ts';
import { AccountsField } from '../../../parts/account.tsx';
import { Checkboxes } from '../../../parts/checkbox.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { Loading } from '../../../parts/page.tsx';
import { toast } from '../../../parts/toast.tsx';
import type { Carriers } from '../carriers/carrier.ts';
import { DaytimeFields, daytimeOf } from '../daytime-fields.tsx';
import { GroupFields } from './group-fields.tsx';
import { CHOICES, type ChangedRoute, CONDITIONS, type Route, several } from './route.ts';

interface RouteDialogProps {
  /** Absent: a new one. */
  readonly route?: Route;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RouteDialog({ route, onClose, onDone }: RouteDialogProps) {
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
    const price = values.optional('price');
    const { warning } = await put<ChangedRoute>(`/v2/admin/routes/${encodeURIComponent(name)}`, {
      matches: { ...Object.fromEntries([...asked, ...ticked]), ...(accounts.length > 0 && { accounts }) },
      groups,
      order: values.number('order') ?? 0,
      wait_seconds: values.number('wait_seconds') ?? 30,
      receipt_failover_seconds: values.number('receipt_failover_seconds') ?? 0,
      ...daytimeOf(values),
      ...(price && { price }),
    });
    toast(warning ?? 'Saved. Everybody follows it within two seconds.', warning === null ? 'good' : 'bad');
    onDone();
    onClose();
  };
  return (
    <Dialog title={route === undefined ? 'Add route' : `Change the route ${route.route_id}`} onClose={onClose}>
      <Form submit={route === undefined ? 'Add route' : 'Change route'} onSubmit={save} onCancel={onClose}>
        {route === undefined && <Field name="name" label="Name" hint="1 to 32 of a-z, 0-9 and -." />}
        <Loading of={carriers}>
          {(data) => <GroupFields groups={groups} carriers={data.carriers} onChange={setGroups} />}
        </Loading>
        <p class="hint">
          Which messages: of each condition that is given, one of its words must fit. None: all messages.
        </p>
        {CONDITIONS.map(([member, label, hint]) => (
          <Field
            key={member}
            name={`matches.${member}`}
            label={label}
            optional
            hint={hint}
            initial={(route?.matches[member] ?? []).join(', ')}
          />
        ))}
        <AccountsField name="matches.accounts" label="Accounts" optional initial={route?.matches.accounts ?? []} />
        {CHOICES.map(([member, legend, options]) => (
          <Checkboxes
            key={member}
            name={`matches.${member}`}
            legend={legend}
            options={options.map(([value, label]) => ({ value, label }))}
            initial={route?.matches[member] ?? []}
          />
        ))}
        <Field
          name="order"
          label="Order"
          inputMode="numeric"
          initial={String(route?.order ?? 0)}
          hint="A higher one is looked at first."
        />
        <Field
          name="wait_seconds"
          label="Seconds until the next carrier helps"
          inputMode="numeric"
          initial={String(route?.wait_seconds ?? 30)}
        />
        <Field
          name="receipt_failover_seconds"
          label="Seconds in which a receipt sends it to the next carrier"
          inputMode="numeric"
          initial={String(route?.receipt_failover_seconds ?? 0)}
          hint="0: never. Once, for errors of the carrier's setting “receiptFailover”. The recipient may get it twice."
        />
        <DaytimeFields daytime={route?.daytime ?? null} />
        <Field
          name="price"
          label="Price"
          optional
          hint="Like 0.12 INR. For reports only."
          initial={route?.price ?? ''}
        />
      </Form>
    </Dialog>
  );
}
