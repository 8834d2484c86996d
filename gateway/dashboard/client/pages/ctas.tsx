import { useState } from 'preact/hooks';
import { decodeFile } from '../../../../shared/platform/sheets/parse.ts';
import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { ctas } from '../../../endpoints/ctas/ctas.ts';
import type { importOwnCtas } from '../../../endpoints/ctas/import.ts';
import { type ApiProblem, asProblem, create, remove } from '../api/http.ts';
import { usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { Field, FileField } from '../parts/field.tsx';
import { Dialog, toast, useClosing, useDialog } from '../parts/form.tsx';
import { type Adding, type Asking, ListPage } from '../parts/list.tsx';
import { Problem } from '../parts/page.tsx';
import { Badge, Button, counted, Time } from '../parts/value.tsx';

type Cta = EntryOf<typeof ctas>;
type Imported = AnswerOf<typeof importOwnCtas>;

const PATH = '/v2/account/ctas';
const STATES = {
  submitted: ['In review', 'info'],
  approved: ['Registered', 'good'],
  rejected: ['Rejected', 'bad'],
} as const;
const KINDS = { url: 'Link', app: 'App', number: 'Number' } as const;

export function CtasPage() {
  const list = usePages<Cta>(PATH);
  const [dialog, open] = useDialog();
  return (
    <ListPage
      title="Links and numbers"
      lead="The links, apps and callback numbers that you registered on the DLT platform. Operators refuse a text with another one; your service provider may have such texts warned of, or refused before they cost anything."
      list={list}
      rowKey={({ cta_id }) => cta_id}
      icon="link"
      empty="Nothing registered yet."
      columns={[
        { head: 'Link or number', cell: ({ value }) => <strong class="long">{value}</strong> },
        { head: 'Kind', cell: ({ kind }) => KINDS[kind] },
        { head: 'Status', cell: ({ state }) => <Badge tone={STATES[state][1]}>{STATES[state][0]}</Badge> },
        { head: 'Requested', cell: (row) => <Time at={row.requested_at} /> },
        { head: 'Reason', cell: ({ reason }) => reason ?? '–' },
      ]}
      actions={
        may('manage') && <Button onClick={() => open(<ImportDialog onDone={list.reload} />)}>Import file</Button>
      }
      add={may('manage') && ADDING}
      acts={may('manage') && ((row) => [['Remove', row.value, removing(row)]])}
      after={dialog}
    />
  );
}

const ADDING: Adding = {
  words: 'Register',
  title: 'Register a link or number',
  fields: (
    <Field name="value" label="Link, app or number" mono>
      As on the DLT platform. A link covers all that begins with it; give its fixed part. Of a shortener or a store, the
      part that is yours.
    </Field>
  ),
  send: async (values) => {
    await create(PATH, { value: values.text('value') });
    return 'It counts when it is approved.';
  },
};

function removing({ cta_id: id, value }: Cta): Asking {
  return {
    title: `Remove ${value}?`,
    act: 'Remove',
    warning: 'Texts with it count as not registered within seconds. To have it back it must be approved again.',
    send: async () => {
      await remove(`${PATH}/${id}`);
      return `${value} is removed.`;
    },
  };
}

/** Previews what the file would change, then imports it. */
function ImportDialog({ onDone }: { readonly onDone: () => void }) {
  const onClose = useClosing();
  const [csv, setCsv] = useState<string>();
  const [preview, setPreview] = useState<Imported>();
  const [problem, setProblem] = useState<ApiProblem>();
  const [busy, setBusy] = useState(false);
  const run = async (file: string, dryRun: boolean) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const done = await create<Imported>(`${PATH}/import`, { csv: file, dry_run: dryRun });
      setPreview(done);
      if (!dryRun) {
        toast(`${counted(done.imported, 'line')} requested.`);
        onDone();
        onClose();
      }
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  const choose = (octets: Uint8Array) => {
    const file = decodeFile(octets);
    const text = file.kind === 'text' ? file.text : new TextDecoder('windows-1252').decode(octets);
    setCsv(text);
    setPreview(undefined);
    return run(text, true);
  };
  return (
    <Dialog title="Import links and numbers" side="right">
      <p class="soft">
        A CSV file with a column for the link or number, such as your export of the DLT platform. Nothing is requested
        before you see what is in it.
      </p>
      <FileField label="CSV file" onRead={choose} />
      {problem && <Problem problem={problem} />}
      {preview && (
        <p role="status">
          {counted(preview.imported, 'new one')}; {preview.known} known already.
        </p>
      )}
      {csv !== undefined && preview && (
        <div class="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={busy} disabled={preview.imported === 0} onClick={() => run(csv, false)}>
            Request {counted(preview.imported, 'line')}
          </Button>
        </div>
      )}
    </Dialog>
  );
}
