import { useState } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { createKey, keys, showKey } from '../../../endpoints/keys/keys.ts';
import { create, patch, queryText, remove, testing } from '../api/http.ts';
import { useLoad, usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { Checkbox, Checkboxes, Field, Select, TextArea } from '../parts/field.tsx';
import { Confirm, changed, Dialog, FormDialog, type FormValues, SecretDialog, useDialog } from '../parts/form.tsx';
import { FilterSelect, ListPage, RowLink, useUrlFilter } from '../parts/list.tsx';
import { exactNow } from '../parts/now.ts';
import { AddButton, Badge, Button, CodeBlock, CopyId, Facts, number, Time, type Tone } from '../parts/value.tsx';

export type Key = EntryOf<typeof keys>;
type KeyDetail = AnswerOf<typeof showKey>;
/** Has the whole key, which is shown this once. */
type CreatedKey = AnswerOf<typeof createKey>;

const STATE_TONES: Readonly<Record<Key['state'], Tone>> = { active: 'good', expired: 'plain', revoked: 'plain' };

const DAY_MS = 86_400_000;
/** Choices for a new key's lifetime, in days. */
const LIVES = [
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

function endOf(days: string | undefined, nowMs: number): { readonly expires_at?: string } {
  return days ? { expires_at: new Date(nowMs + Number(days) * DAY_MS).toISOString() } : {};
}

const SCOPES = [
  { value: 'send', label: 'send', hint: 'Send messages.' },
  { value: 'read', label: 'read', hint: 'Read messages, lists and the balance.' },
  { value: 'otp', label: 'otp', hint: 'Use the most urgent priority, for one-time passwords. Needs send too.' },
  { value: 'manage', label: 'manage', hint: 'Change settings: keys, webhooks, templates.' },
];

/** A first request with the new key. */
function curlOf(key: string, scopes: readonly string[]): string {
  const [path, body] = scopes.includes('read')
    ? ['/v2/balance', '']
    : [
        '/v2/send',
        ` \\\n  -H 'Content-Type: application/json' -d '{"to":"91…","message":"…","sender":"…","route":"transactional"}'`,
      ];
  return `curl -s ${location.origin}${path} -H 'Authorization: Bearer ${key}'${body}`;
}

export function KeysPage() {
  const filter = useUrlFilter('state');
  const list = usePages<Key>('/v2/account/keys', filter.values);
  const [dialog, open] = useDialog();
  const [shown, setShown] = useState<string>();
  const key = list.rows?.find(({ key_id }) => key_id === shown);
  const show = (made: CreatedKey) => {
    setShown(undefined);
    list.reload();
    open(
      <SecretDialog name="API key" text={made.key} hint="Store it where your program reads its secrets.">
        <p>Try it:</p>
        <CodeBlock text={curlOf(made.key, made.scopes)} label="curl" />
      </SecretDialog>,
    );
  };
  return (
    <ListPage
      title="API keys"
      lead="With a key, your programs send messages and read what became of them."
      next={
        may('manage') && (
          <AddButton onClick={() => open(<CreateKeyDialog opened={exactNow()} onCreated={show} />)}>
            Create key
          </AddButton>
        )
      }
      list={list}
      filter={filter}
      filters={<FilterSelect filter={filter} name="state" label="Status" options={STATES} />}
      rowKey={({ key_id }) => key_id}
      icon="key"
      empty={
        <>
          No keys yet. Create one to send your first message. <a href="/docs">How to send with it</a>
        </>
      }
      columns={[
        { head: 'Name', cell: ({ key_id, name }) => <RowLink onClick={() => setShown(key_id)}>{name}</RowLink> },
        { head: 'Kind', cell: ({ test }) => (test ? <Badge tone="warn">test</Badge> : 'live') },
        { head: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
        { head: 'Status', cell: ({ state }) => <Badge tone={STATE_TONES[state]}>{state}</Badge> },
        { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
        { head: 'Expires', cell: (row) => <Time at={row.expires_at} none="never" /> },
        { head: 'Last used', cell: (row) => <Time at={row.last_used} none="never" /> },
        { head: 'From', cell: ({ last_address }) => last_address ?? '–' },
        { head: 'In 24 hours', kind: 'number', cell: (row) => number(row.requests_24h) },
      ]}
      after={
        <>
          {dialog}
          {key && <KeyPanel of={key} onClose={() => setShown(undefined)} onChange={list.reload} onRotated={show} />}
        </>
      }
    />
  );
}

const STATES = [
  ['active', 'Active'],
  ['expired', 'Expired'],
  ['revoked', 'Revoked'],
] as const;

const KINDS = [
  ['live', 'Live: hk_live_…'],
  ['test', 'Test: hk_test_…'],
] as const;

interface CreateKeyProps {
  /** Expiry counts from here, so that pressing again after a lost answer sends the same request. */
  readonly opened: number;
  readonly onCreated: (made: CreatedKey) => void;
}

function CreateKeyDialog({ opened, onCreated }: CreateKeyProps) {
  const send = async (values: FormValues) => {
    const isTest = values.text('kind') === 'test';
    const made = await create<CreatedKey>('/v2/account/keys', {
      ...(isTest && { test: true }),
      name: values.text('name'),
      scopes: values.all('scopes'),
      allowed_ips: values.lines('allowed_ips'),
      // A test key has its own default rate.
      ...(!(isTest && values.text('per_minute') === USUAL_RATE) && { per_minute: values.number('per_minute') }),
      ...endOf(values.optional('expires_at'), opened),
    });
    onCreated(made);
  };
  return (
    <FormDialog title="Create an API key" submit="Create key" of={NEW_KEY} onSubmit={send}>
      <Select name="kind" label="Kind" options={KINDS} initial={testing.value ? 'test' : 'live'}>
        What a test key sends leaves to nobody and costs nothing. It sends and reads, and sees tests alone.
      </Select>
      <KeyFields />
      <Select name="expires_at" label="Stops working" options={[['', 'Never'], ...LIVES]} />
    </FormDialog>
  );
}

/** The form's default rate. */
const USUAL_RATE = '1000';
const NEW_KEY = { scopes: ['send', 'read'], per_minute: USUAL_RATE };

function KeyFields() {
  return (
    <>
      <Field name="name" label="Name">
        What uses it, for people: shop server.
      </Field>
      <Checkboxes name="scopes" legend="It may" options={SCOPES} />
      <TextArea name="allowed_ips" label="Allowed addresses" optional rows={3}>
        One address or subnet a line, such as 203.0.113.7 or 198.51.100.0/24. Empty: from everywhere.
      </TextArea>
      <Field name="per_minute" label="Requests a minute" inputMode="numeric">
        More are refused with 429 until the minute is over.
      </Field>
    </>
  );
}

interface KeyPanelProps {
  readonly of: Key;
  readonly onClose: () => void;
  readonly onChange: () => void;
  readonly onRotated: (made: CreatedKey) => void;
}

function KeyPanel({ of, onClose, onChange, onRotated }: KeyPanelProps) {
  const [dialog, open] = useDialog();
  const path = `/v2/account/keys/${of.key_id}`;
  const edit = () =>
    open(
      <FormDialog
        title={`Change ${of.name}`}
        submit="Save settings"
        of={of}
        onSubmit={async (values) => {
          const now = {
            name: values.text('name'),
            scopes: values.all('scopes').sort(),
            allowed_ips: values.lines('allowed_ips'),
            per_minute: values.neededNumber('per_minute'),
          };
          await patch(path, changed(now, { ...of, scopes: [...of.scopes].sort(), allowed_ips: of.allowed_ips ?? [] }));
          onChange();
          return 'Settings saved. They take effect within seconds.';
        }}
      >
        <KeyFields />
      </FormDialog>,
    );
  const rotate = () => {
    const opened = exactNow(); // Pressing again after a lost answer must send the same request.
    open(
      <FormDialog
        title="Rotate the key?"
        lead="You get a new key with the same settings. Give it to what uses the old one before that stops."
        submit="Rotate key"
        onSubmit={async (values) => {
          const until = new Date(opened + Number(values.text('old_expires_at')) * HOUR_MS);
          const body = { old_expires_at: until.toISOString(), ...endOf(values.optional('expires_at'), opened) };
          onRotated(await create<CreatedKey>(`${path}/rotate`, body));
        }}
      >
        <Select name="old_expires_at" label="The old key stops working" options={OVERLAPS} initial="24" />
        <Select
          name="expires_at"
          label="The new key stops working"
          options={[['', of.expires_at === null ? 'Never' : 'When the old one would have'], ...LIVES]}
        />
      </FormDialog>,
    );
  };
  return (
    <Dialog title={of.name} side="right" onClose={onClose}>
      <KeyFacts of={of} />
      {may('manage') && of.state === 'active' && (
        <div class="acts">
          <Button onClick={edit}>Change settings</Button>
          {of.rotated_to === null && <Button onClick={rotate}>Rotate key</Button>}
          <Button look="danger" onClick={() => open(<RevokeDialog of={of} path={path} onChange={onChange} />)}>
            Revoke key
          </Button>
        </div>
      )}
      {dialog}
    </Dialog>
  );
}

interface RevokeProps {
  readonly of: Key;
  readonly path: string;
  readonly onChange: () => void;
}

function RevokeDialog({ of, path, onChange }: RevokeProps) {
  const { data } = useLoad<KeyDetail>(path);
  const [alsoMade, setAlsoMade] = useState(false);
  const made = data?.descendants ?? [];
  return (
    <Confirm
      title={`Revoke the key ${of.name}?`}
      act="Revoke key"
      typed={of.name}
      onConfirm={async () => {
        await remove(`${path}${queryText({ descendants: alsoMade ? 'revoke' : undefined })}`);
        onChange();
        return 'Key revoked. It is refused within some seconds.';
      }}
    >
      <p>Programs that use it can no longer send or read. It cannot be undone.</p>
      {made.length > 0 && (
        <>
          <p>It made keys that work: {made.map(({ name }) => name).join(', ')}.</p>
          <Checkbox name="descendants" label="Revoke these too" checked={alsoMade} onChange={setAlsoMade} />
        </>
      )}
    </Confirm>
  );
}

function KeyFacts({ of }: { readonly of: Key }) {
  return (
    <Facts
      facts={[
        ['Begins with', <CopyId id={of.prefix} />],
        ['Status', <Badge tone={STATE_TONES[of.state]}>{of.state}</Badge>],
        ['Scopes', of.scopes.join(', ')],
        ['Allowed addresses', of.allowed_ips?.join(', ') ?? 'all'],
        ['Requests a minute', number(of.per_minute)],
        ['Last used', <Time at={of.last_used} none="never" full />],
        ['Last address', of.last_address ?? '–'],
        ['Requests in 24 hours', number(of.requests_24h)],
        ['Made', <Time at={of.created_at} full />],
        ['Made by', makerOf(of)],
        ['Stops working', <Time at={of.expires_at} none="never" full />],
        ['Replaced by', of.rotated_to && <CopyId id={of.rotated_to} />],
      ]}
    />
  );
}

function makerOf({ created_by: maker }: Key): string {
  if (maker === null) return 'your service provider';
  return maker.name ?? `${maker.kind} ${maker.id}`;
}

const HOUR_MS = 3_600_000;
const OVERLAPS = [
  ['1', 'In an hour'],
  ['24', 'In 24 hours'],
  ['72', 'In 3 days'],
  ['167', 'In 7 days'],
] as const;
