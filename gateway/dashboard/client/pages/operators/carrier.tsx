import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { patch, post, remove } from '../../api/http.ts';
import { useLive } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { Field } from '../../parts/field.tsx';
import { Confirm, Dialog, Form, FormDialog, type FormValues, toast, useClosing, useDialog } from '../../parts/form.tsx';
import { RowLink, Table } from '../../parts/list.tsx';
import { Card, Empty, Loading, PageHead, type PageProps } from '../../parts/page.tsx';
import { Badge, Button, Facts, number, Time } from '../../parts/value.tsx';
import {
  type BindTest,
  BindTestResult,
  type Carrier,
  type CarrierDetail,
  type Carriers,
  type ChangedCarrier,
  isOf,
  rateOf,
  readable,
  type Setting,
  SettingField,
  settingName,
  testBind,
  toneOf,
  WORDS,
} from './carriers.tsx';

export function CarrierPage({ params }: PageProps) {
  const loaded = useLoad<CarrierDetail>(`/v2/admin/carriers/${params.carrier_id}`);
  const live = useLive<Carriers>('carriers');
  const { route } = useLocation();
  const [dialog, open] = useDialog();
  const carrier = loaded.data;
  const now = live?.carriers.find(({ carrier_id: id }) => id === params.carrier_id) ?? carrier;
  const drop = (id: string, name: string) =>
    open(
      <Confirm
        title={`Remove ${name}?`}
        act="Remove carrier"
        typed={id}
        onConfirm={async () => {
          await remove(`/v2/admin/carriers/${id}`);
          route('/dashboard/admin/carriers', true);
          return `${name} is removed.`;
        }}
      >
        Receipts that it sends later find nobody: messages that wait for one keep their status.
      </Confirm>,
    );
  return (
    <>
      <PageHead
        title={carrier?.name ?? 'Carrier'}
        back={{ href: '/dashboard/admin/carriers', label: 'Carriers' }}
        actions={
          now &&
          may('admin:routing') && (
            <>
              {now.status === 'paused' && (
                <Button onClick={() => drop(now.carrier_id, now.name)}>Remove carrier</Button>
              )}
              {carrier && (
                <Button onClick={() => open(<TestDialog carrier={carrier} />)}>{WORDS[carrier.kind].test}</Button>
              )}
              <Button onClick={() => open(<PauseDialog carrier={now} onChange={loaded.setData} />)}>
                {now.status === 'active' ? 'Pause carrier' : 'Resume carrier'}
              </Button>
            </>
          )
        }
      />
      <Loading of={loaded}>
        {(data) => (
          <>
            <Now carrier={now ?? data} />
            <SettingsCard carrier={data} onChange={loaded.setData} />
          </>
        )}
      </Loading>
      {dialog}
    </>
  );
}

function TestDialog({ carrier }: { readonly carrier: CarrierDetail }) {
  const close = useClosing();
  const words = WORDS[carrier.kind];
  const [tested, setTested] = useState<BindTest>();
  return (
    <Dialog title={`${words.test} of ${carrier.name}`} side="right">
      <p class="prose">
        {carrier.kind === 'http'
          ? "Connects from this gateway's machine with the stored settings. Sends no message, so the password is not tried."
          : "Binds from this gateway's machine with the stored settings, and unbinds. Sends no message. A carrier that allows no further bind refuses it while the worker has all of them."}
      </p>
      <Form
        submit={words.test}
        onCancel={close}
        sendsAgain
        onSubmit={async () => setTested(await testBind({ carrier_id: carrier.carrier_id }))}
      >
        {tested && <BindTestResult of={tested} />}
      </Form>
    </Dialog>
  );
}

function Now({ carrier }: { readonly carrier: Carrier }) {
  const { condition, words, measured, unknowns, binds, callback } = carrier;
  const refusal = measured?.last_refusal;
  const counts = (of: Readonly<Record<string, number>> = {}): string =>
    Object.entries(of)
      .map(([name, count]) => `${name} ${number(count)}`)
      .join(', ') || '–';
  return (
    <Card title="Now">
      <Facts
        facts={[
          ['Status', <Badge tone={toneOf(condition)}>{condition.replaceAll('_', ' ')}</Badge>],
          ['In words', readable(words)],
          ['Receipts come in at', callback && <code>{location.origin + callback}</code>],
          ['Rate', rateOf(carrier)],
          ['Answers', counts(measured?.answers)],
          ['Receipts', counts(measured?.receipts)],
          ['Never answered', number(unknowns)],
          ['Last refusal of a message', refusal == null ? 'none' : `${refusal.reason} (${refusal.code})`],
        ]}
      />
      {binds.length === 0 ? (
        <Empty icon="carrier">
          No process holds this carrier, so it has no binds. Check that the smpp process runs.
        </Empty>
      ) : (
        <Table
          caption="Binds"
          rows={binds}
          rowKey={({ index }) => String(index)}
          columns={[
            { head: 'Bind', cell: ({ index }) => number(index + 1) },
            { head: 'Status', cell: ({ state }) => state },
            { head: 'Since', cell: ({ since }) => <Time at={since} /> },
            { head: 'Window used', kind: 'number', cell: (bind) => bind.window_used ?? '–' },
            {
              head: 'Trouble',
              cell: ({ trouble, last_trouble: last }) =>
                trouble !== null ? readable(trouble.words) : last === null ? 'none' : `before: ${readable(last.words)}`,
            },
          ]}
        />
      )}
    </Card>
  );
}

interface PauseDialogProps {
  readonly carrier: Carrier;
  readonly onChange: (carrier: CarrierDetail) => void;
}

function PauseDialog({ carrier: { carrier_id: id, name, status }, onChange }: PauseDialogProps) {
  const isActive = status === 'active';
  const change = async (values: FormValues) => {
    const { carrier: changed } = await post<ChangedCarrier>(`/v2/admin/carriers/${id}/status`, {
      status: isActive ? 'paused' : 'active',
      reason: values.optional('reason'),
    });
    onChange(changed);
    return isActive ? `${name} is paused.` : `${name} is active again.`;
  };
  return (
    <FormDialog
      title={isActive ? `Pause ${name}?` : `Resume ${name}?`}
      lead={
        isActive
          ? 'Its binds end gracefully. What waits for it waits, or goes by another carrier of its routes.'
          : 'A worker binds to it again within seconds.'
      }
      submit={isActive ? 'Pause carrier' : 'Resume carrier'}
      look={isActive ? 'danger' : 'primary'}
      onSubmit={change}
    >
      <Field name="reason" label="Reason" optional>
        It stands in the audit.
      </Field>
    </FormDialog>
  );
}

interface SettingsCardProps {
  readonly carrier: CarrierDetail;
  readonly onChange: (carrier: CarrierDetail) => void;
}

/** All settings that the gateway lists for this kind of carrier; new ones appear by themselves. */
function SettingsCard({ carrier, onChange }: SettingsCardProps) {
  const [dialog, open] = useDialog();
  const edit = (setting: Setting) => open(<ChangeDialog {...{ setting, carrier, onChange }} />);
  const changePassword = () =>
    open(
      <FormDialog
        title={`Change the password of ${carrier.name}`}
        submit="Change password"
        onSubmit={async (values) => {
          await change(carrier, { password: values.exact('password') }, onChange);
          return 'The password is changed.';
        }}
      >
        <Field name="password" label={WORDS[carrier.kind].newPassword} type="password" autoComplete="new-password">
          It is stored encrypted and never shown.
        </Field>
      </FormDialog>,
    );
  return (
    <Card
      title="Settings"
      lead="After a change the binds end gracefully and start again with the new settings."
      actions={may('admin:routing') && <Button onClick={changePassword}>Change password</Button>}
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
                <RowLink onClick={() => edit(row)}>{settingName(row.name)}</RowLink>
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
      {dialog}
    </Card>
  );
}

interface ChangeProps extends SettingsCardProps {
  readonly setting: Setting;
}

function ChangeDialog({ setting, carrier, onChange }: ChangeProps) {
  const { name, secret, default: standard, needs_password: needsPassword } = setting;
  const words = WORDS[carrier.kind];
  const close = useClosing();
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
    close();
  };
  const test = async (values: FormValues) => {
    setTested(undefined);
    setTested(await testBind({ carrier_id: carrier.carrier_id, ...asked(values) }));
  };
  return (
    <Dialog title={`${settingName(name)} of ${carrier.name}`}>
      {standard !== null && !secret && <p class="soft">Default: {standard === '' ? 'empty' : standard}</p>}
      {/* Settings that decide where the password is sent can be tested before they are saved. */}
      <Form
        {...(needsPassword
          ? {
              submit: words.test,
              look: 'plain' as const,
              onSubmit: test,
              next: { words: 'Change setting', act: save },
            }
          : { submit: 'Change setting', onSubmit: save })}
        onCancel={close}
      >
        <SettingField setting={setting} />
        {needsPassword && (
          <Field
            name="password"
            label={words.password}
            type="password"
            autoComplete="off"
          >{`${settingName(name)} decides where the password is sent, so it is needed here. The stored one is not sent to a new place.`}</Field>
        )}
        {tested && <BindTestResult of={tested} />}
      </Form>
    </Dialog>
  );
}

async function change(carrier: CarrierDetail, body: object, onChange: SettingsCardProps['onChange']): Promise<void> {
  const path = `/v2/admin/carriers/${carrier.carrier_id}`;
  onChange((await patch<ChangedCarrier>(path, body)).carrier);
}
