import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { patch, post, remove } from '../../../api/http.ts';
import { useLive } from '../../../api/live.ts';
import { useLoad } from '../../../api/load.ts';
import { may } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm, Dialog, toast } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Form, type FormValues } from '../../../parts/form.tsx';
import { Card, Empty, Loading, PageHead } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { Badge, Facts, number, Time } from '../../../parts/value.tsx';
import type { PageProps } from '../../../router/route.tsx';
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
} from './carrier.tsx';

/** One carrier: its binds as they are now, and its settings. */
export function CarrierPage({ params }: PageProps) {
  const loaded = useLoad<CarrierDetail>(`/v2/admin/carriers/${params.carrier_id}`);
  const live = useLive<Carriers>('carriers');
  const { route } = useLocation();
  const [asked, setAsked] = useState<'status' | 'test' | 'remove'>();
  const carrier = loaded.data;
  const now = live?.carriers.find(({ carrier_id: id }) => id === params.carrier_id) ?? carrier;
  return (
    <>
      <PageHead
        title={carrier?.name ?? 'Carrier'}
        back={{ href: '/dashboard/admin/carriers', label: 'Carriers' }}
        actions={
          now &&
          may('admin:routing') && (
            <>
              {now.status === 'paused' && <Button onClick={() => setAsked('remove')}>Remove carrier</Button>}
              {carrier && <Button onClick={() => setAsked('test')}>{WORDS[carrier.kind].test}</Button>}
              <Button onClick={() => setAsked('status')}>
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
      {carrier && now && asked === 'status' && (
        <PauseDialog carrier={now} onClose={() => setAsked(undefined)} onChange={loaded.setData} />
      )}
      {carrier && asked === 'test' && <TestDialog carrier={carrier} onClose={() => setAsked(undefined)} />}
      {carrier && asked === 'remove' && (
        <Confirm
          title={`Remove ${carrier.name}?`}
          act="Remove carrier"
          typed={carrier.carrier_id}
          onClose={() => setAsked(undefined)}
          onConfirm={async () => {
            await remove(`/v2/admin/carriers/${carrier.carrier_id}`);
            toast(`${carrier.name} is removed.`);
            route('/dashboard/admin/carriers', true);
          }}
        >
          <p>Receipts that it sends later find nobody: messages that wait for one keep their status.</p>
        </Confirm>
      )}
    </>
  );
}

interface TestDialogProps {
  readonly carrier: CarrierDetail;
  readonly onClose: () => void;
}

function TestDialog({ carrier, onClose }: TestDialogProps) {
  const words = WORDS[carrier.kind];
  const [tested, setTested] = useState<BindTest>();
  return (
    <Dialog title={`${words.test} of ${carrier.name}`} side="right" onClose={onClose}>
      <p class="prose">
        {carrier.kind === 'http'
          ? "Connects from this gateway's machine with the stored settings. Sends no message, so the password is not tried."
          : "Binds from this gateway's machine with the stored settings, and unbinds. Sends no message. A carrier that allows no further bind refuses it while the worker has all of them."}
      </p>
      <Form
        submit={words.test}
        onCancel={onClose}
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
          ...(callback === null ? [] : [['Receipts come in at', <code>{location.origin + callback}</code>] as const]),
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
  readonly onClose: () => void;
  readonly onChange: (carrier: CarrierDetail) => void;
}

function PauseDialog({ carrier, onClose, onChange }: PauseDialogProps) {
  const isActive = carrier.status === 'active';
  const change = async (values: FormValues) => {
    const { carrier: changed } = await post<ChangedCarrier>(`/v2/admin/carriers/${carrier.carrier_id}/status`, {
      status: isActive ? 'paused' : 'active',
      ...(values.optional('reason') && { reason: values.text('reason') }),
    });
    onChange(changed);
    toast(isActive ? `${carrier.name} is paused.` : `${carrier.name} is active again.`);
    onClose();
  };
  return (
    <Dialog title={isActive ? `Pause ${carrier.name}?` : `Resume ${carrier.name}?`} onClose={onClose}>
      <p class="prose">
        {isActive
          ? 'Its binds end gracefully. What waits for it waits, or goes by another carrier of its routes.'
          : 'A worker binds to it again within seconds.'}
      </p>
      <Form
        submit={isActive ? 'Pause carrier' : 'Resume carrier'}
        look={isActive ? 'danger' : 'primary'}
        onSubmit={change}
        onCancel={onClose}
      >
        <Field name="reason" label="Reason" optional hint="It stands in the audit." />
      </Form>
    </Dialog>
  );
}

interface SettingsCardProps {
  readonly carrier: CarrierDetail;
  readonly onChange: (carrier: CarrierDetail) => void;
}

/** All settings that its kind has a use for, as the gateway lists them: a new one appears by itself. */
function SettingsCard({ carrier, onChange }: SettingsCardProps) {
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
