import { useState } from 'preact/hooks';
import { patch } from '../../../api/http.ts';
import { may } from '../../../api/session.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { Card } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { toast } from '../../../parts/toast.tsx';
import { type BindTest, BindTestResult, testBind } from './bind-test.tsx';
import { type CarrierDetail, type ChangedCarrier, isOf, type Setting, settingName, WORDS } from './carrier.ts';
import { SettingField } from './setting-field.tsx';

interface SettingsCardProps {
  readonly carrier: CarrierDetail;
  readonly onChange: (carrier: CarrierDetail) => void;
}

/** All settings that its kind has a use for, as the gateway lists them: a new one appears by itself. */
export function SettingsCard({ carrier, onChange }: SettingsCardProps) {
  const [shown, setShown] = useState<Setting>();
  const [password, setPassword] = useState(false);
  return (
    <Card
      title="Settings"
      lead="After a change the binds end gracefully and start again with the new settings."
      actions={may('admin:routing') && <Button onClick={() => setPassword(true)}>Change password</Button>}
    >
      <Table
        caption="Settings"
        rows={carrier.settings.filter((one) => isOf(carrier.kind, one))}
        rowKey={({ name }) => name}
        columns={[
          {
            head: 'Setting',
            cell: (row) =>
              may('admin:routing') ? (
                <button type="button" class="row-link" onClick={() => setShown(row)}>
                  {settingName(row.name)}
                </button>
              ) : (
                settingName(row.name)
              ),
          },
          { head: 'Group', cell: ({ group }) => group },
          {
            head: 'Value',
            cell: ({ value, is_set: isSet, default: standard }) => (
              <>
                <code class="long">{value}</code> {isSet && standard !== null && <Badge>set</Badge>}
              </>
            ),
          },
          { head: 'What it is', cell: ({ about }) => about },
        ]}
      />
      {shown && (
        <ChangeDialog setting={shown} carrier={carrier} onChange={onChange} onClose={() => setShown(undefined)} />
      )}
      {password && <PasswordDialog carrier={carrier} onChange={onChange} onClose={() => setPassword(false)} />}
    </Card>
  );
}

interface ChangeProps extends SettingsCardProps {
  readonly onClose: () => void;
}

function ChangeDialog({ setting, carrier, onChange, onClose }: ChangeProps & { readonly setting: Setting }) {
  const { name, secret, default: standard, needs_password: needsPassword } = setting;
  const words = WORDS[carrier.kind];
  const [tested, setTested] = useState<BindTest>();
  const asked = (values: FormValues) => {
    const field = `settings.${name}`;
    const password = needsPassword ? values.exact('password') : '';
    const settings = { [name]: secret ? values.exact(field) : values.text(field) };
    return { settings, ...(password === '' ? {} : { password }) };
  };
  const save = async (values: FormValues) => {
    await change(carrier, asked(values), onChange);
    toast(`${settingName(name)} is changed.`);
    onClose();
  };
  const test = async (values: FormValues) => {
    setTested(undefined);
    setTested(await testBind({ carrier_id: carrier.carrier_id, ...asked(values) }));
  };
  return (
    <Dialog title={`${settingName(name)} of ${carrier.name}`} onClose={onClose}>
      {standard !== null && !secret && <p class="soft">Default: {standard === '' ? 'empty' : standard}</p>}
      {/* What decides where the password goes can be tried before it is saved. */}
      <Form
        {...(needsPassword
          ? {
              submit: words.test,
              look: 'plain' as const,
              onSubmit: test,
              next: { words: 'Change setting', act: save },
            }
          : { submit: 'Change setting', onSubmit: save })}
        onCancel={onClose}
      >
        <SettingField setting={setting} />
        {needsPassword && (
          <Field
            name="password"
            label={words.password}
            type="password"
            autoComplete="off"
            hint={`${settingName(name)} decides where the password is sent, so it is needed here. The stored one is not sent to a new place.`}
          />
        )}
        {tested && <BindTestResult of={tested} />}
      </Form>
    </Dialog>
  );
}

function PasswordDialog({ carrier, onChange, onClose }: ChangeProps) {
  const save = async (values: FormValues) => {
    await change(carrier, { password: values.exact('password') }, onChange);
    toast('The password is changed.');
    onClose();
  };
  return (
    <Dialog title={`Change the password of ${carrier.name}`} onClose={onClose}>
      <Form submit="Change password" onSubmit={save} onCancel={onClose}>
        <Field
          name="password"
          label={WORDS[carrier.kind].newPassword}
          type="password"
          autoComplete="new-password"
          hint="It is stored encrypted and never shown."
        />
      </Form>
    </Dialog>
  );
}

async function change(carrier: CarrierDetail, body: object, onChange: SettingsCardProps['onChange']): Promise<void> {
  const path = `/v2/admin/carriers/${carrier.carrier_id}`;
  onChange((await patch<ChangedCarrier>(path, body)).carrier);
}
