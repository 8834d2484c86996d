import { put } from '../../../api/http.ts';
import { AccountsField } from '../../../parts/account.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, TextArea } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { toast } from '../../../parts/toast.tsx';
import { CONDITIONS, groupLines, groupsOf, type Route, several } from './route.ts';

interface RouteDialogProps {
  /** Absent: a new one. */
  readonly route?: Route;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RouteDialog({ route, onClose, onDone }: RouteDialogProps) {
  const save = async (values: FormValues) => {
    const name = route?.route_id ?? values.text('name');
    const asked = CONDITIONS.flatMap(([member]) => {
      const given = several(values.text(`matches.${member}`));
      return given.length === 0 ? [] : [[member, given] as const];
    });
    const accounts = several(values.text('matches.accounts'));
    const names: readonly string[] = [...CONDITIONS.map(([member]) => member), 'accounts'];
    const others = Object.entries(route?.matches ?? {}).filter(([member]) => !names.includes(member));
    const { warning } = await put<{ warning: string | null }>(`/v2/admin/routes/${encodeURIComponent(name)}`, {
      matches: { ...Object.fromEntries([...others, ...asked]), ...(accounts.length > 0 && { accounts }) },
      groups: groupsOf(values.lines('groups')),
      order: values.number('order') ?? 0,
      wait_seconds: values.number('wait_seconds') ?? 30,
      ...(route?.price != null && { price: route.price }),
    });
    toast(warning ?? 'Saved. Everybody follows it within two seconds.', warning === null ? 'good' : 'bad');
    onDone();
    onClose();
  };
  return (
    <Dialog title={route === undefined ? 'Add route' : `Change the route ${route.route_id}`} onClose={onClose}>
      <Form submit={route === undefined ? 'Add route' : 'Change route'} onSubmit={save} onCancel={onClose}>
        {route === undefined && <Field name="name" label="Name" hint="1 to 32 of a-z, 0-9 and -." />}
        <TextArea
          name="groups"
          label="Carriers"
          rows={3}
          initial={groupLines(route?.groups ?? [])}
          hint="A line for each group, in their order, with weights: airtel:70, jio:30. Empty: matching messages are refused."
        />
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
      </Form>
    </Dialog>
  );
}
