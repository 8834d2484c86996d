import { useState } from 'preact/hooks';
import { create, patch, queryText, remove } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { changed } from '../../parts/changed.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { exactNow } from '../../parts/now.ts';
import { number } from '../../parts/number.ts';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { type CreatedKey, endOf, type Key, type KeyDetail, LIVES, STATE_TONES } from './key.ts';
import { KeyFields } from './key-fields.tsx';

interface KeyPanelProps {
  readonly of: Key;
  readonly onClose: () => void;
  readonly onChange: () => void;
  readonly onRotated: (made: CreatedKey) => void;
}

/** One key: how it is used, and what can be done about it. */
export function KeyPanel({ of, onClose, onChange, onRotated }: KeyPanelProps) {
  const [asked, setAsked] = useState<'edit' | 'rotate' | 'revoke'>();
  const path = `/v2/account/keys/${of.key_id}`;
  const close = () => setAsked(undefined);
  return (
    <Dialog title={of.name} side="right" onClose={onClose}>
      <KeyFacts of={of} />
      {may('manage') && of.state === 'active' && (
        <div class="acts">
          <Button onClick={() => setAsked('edit')}>Change settings</Button>
          {of.rotated_to === null && <Button onClick={() => setAsked('rotate')}>Rotate key</Button>}
          <Button look="danger" onClick={() => setAsked('revoke')}>
            Revoke key
          </Button>
        </div>
      )}
      {asked === 'edit' && <EditDialog of={of} path={path} onClose={close} onChange={onChange} />}
      {asked === 'rotate' && <RotateDialog of={of} path={path} onClose={close} onRotated={onRotated} />}
      {asked === 'revoke' && <RevokeDialog of={of} path={path} onClose={close} onChange={onChange} />}
    </Dialog>
  );
}

/** Asks, and says which keys this one has made. */
function RevokeDialog({ of, path, onClose, onChange }: ActProps & { readonly of: Key; readonly onChange: () => void }) {
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
        toast('Key revoked. It is refused within some seconds.');
      }}
      onClose={onClose}
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
        ...(of.rotated_to === null ? [] : [['Replaced by', <CopyId id={of.rotated_to} />] as const]),
      ]}
    />
  );
}

function makerOf({ created_by: maker }: Key): string {
  if (maker === null) return 'your service provider';
  return maker.name ?? `${maker.kind} ${maker.id}`;
}

interface ActProps {
  readonly path: string;
  readonly onClose: () => void;
}

function EditDialog({ of, path, onClose, onChange }: ActProps & { readonly of: Key; readonly onChange: () => void }) {
  return (
    <Dialog title={`Change ${of.name}`} onClose={onClose}>
      <Form
        submit="Save settings"
        onCancel={onClose}
        onSubmit={async (values) => {
          const now = {
            name: values.text('name'),
            scopes: values.all('scopes').sort(),
            allowed_ips: values.lines('allowed_ips'),
            per_minute: values.neededNumber('per_minute'),
          };
          await patch(path, changed(now, { ...of, scopes: [...of.scopes].sort(), allowed_ips: of.allowed_ips ?? [] }));
          onChange();
          onClose();
          toast('Settings saved. They take effect within seconds.');
        }}
      >
        <KeyFields of={of} />
      </Form>
    </Dialog>
  );
}

const HOUR_MS = 3_600_000;
const OVERLAPS = [
  ['1', 'In an hour'],
  ['24', 'In 24 hours'],
  ['72', 'In 3 days'],
  ['167', 'In 7 days'],
] as const;

interface RotateProps extends ActProps {
  readonly of: Key;
  readonly onRotated: (made: CreatedKey) => void;
}

function RotateDialog({ of, path, onClose, onRotated }: RotateProps) {
  const [opened] = useState(exactNow); // Pressed again after a lost answer, it must be the same request.
  return (
    <Dialog title="Rotate the key?" onClose={onClose}>
      <div class="prose">
        <p>You get a new key with the same settings. Give it to what uses the old one before that stops.</p>
      </div>
      <Form
        submit="Rotate key"
        onCancel={onClose}
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
          initial=""
        />
      </Form>
    </Dialog>
  );
}
