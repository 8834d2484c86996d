import { useState } from 'preact/hooks';
import { decodeFile } from '../../../../shared/platform/sheets/parse.ts';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { importTemplates } from '../../../endpoints/account-templates/import.ts';
import { type ApiProblem, asProblem, create } from '../api/http.ts';
import { Checkbox, FileField } from '../parts/field.tsx';
import { Dialog, toast } from '../parts/form.tsx';
import { Table } from '../parts/list.tsx';
import { Problem } from '../parts/page.tsx';
import { Button, counted, number } from '../parts/value.tsx';

type TemplateImport = AnswerOf<typeof importTemplates>;

/** The gateway takes a file in pieces of at most this many bytes. */
const PIECE_BYTES = 24_000;
const SHOWN_MAX = 100;

/** The encoding of Excel's plain "CSV". */
const WINDOWS = 'windows-1252';

/** `encoding` is set when the bytes do not show it. */
interface Chosen {
  readonly pieces: readonly string[];
  readonly isUnclear: boolean;
  readonly encoding?: typeof WINDOWS;
}

interface ImportDialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Imports an export of the operators' DLT platform: first a preview with the bad rows, then the import. */
export function ImportDialog({ onClose, onDone }: ImportDialogProps) {
  const [file, setFile] = useState<Chosen>();
  const [preview, setPreview] = useState<TemplateImport>();
  const [problem, setProblem] = useState<ApiProblem>();
  const [busy, setBusy] = useState(false);
  const [update, setUpdate] = useState(false);
  const run = async ({ pieces, encoding }: Chosen, dryRun: boolean) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const body = { file: pieces, dry_run: dryRun, skip_bad: true, update: update && !dryRun, encoding };
      const done = await create<TemplateImport>('/v2/account/templates/import', body);
      setPreview(done);
      if (!dryRun) {
        onDone();
        onClose();
        toast(doneWords(done));
      }
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  const look = (chosen: Chosen) => {
    setPreview(undefined);
    setUpdate(false);
    setFile(chosen);
    return run(chosen, true);
  };
  const choose = (octets: Uint8Array) =>
    look({ pieces: piecesOf(octets), isUnclear: decodeFile(octets).kind !== 'text' });
  return (
    <Dialog title="Import the export of your DLT platform" side="right" onClose={onClose}>
      <p class="soft">
        A CSV file of at most 1 MB with columns for template id, header and content. Nothing is imported before you see
        what is in it.
      </p>
      <FileField label="CSV file" onRead={choose} />
      {problem && <Problem problem={problem} />}
      {problem && file?.isUnclear && file.encoding === undefined && (
        <Button busy={busy} onClick={() => look({ ...file, encoding: WINDOWS })}>
          Read it as Windows-1252
        </Button>
      )}
      {preview && <Preview of={preview} />}
      {preview && preview.changed_count > 0 && <Changes of={preview} update={update} onUpdate={setUpdate} />}
      {file && preview && (
        <div class="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            busy={busy}
            disabled={preview.imported === 0 && !update}
            onClick={() => run(file, false)}
          >
            {preview.imported > 0 || !update
              ? `Request ${counted(preview.imported, 'template')}${update ? ' and change the others' : ''}`
              : `Change ${counted(preview.changed_count, 'template')}`}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

function doneWords({ imported, updated, changed_count }: TemplateImport): string {
  const requested = `${counted(imported, 'template')} requested.`;
  return changed_count === 0 ? requested : `${requested} ${number(updated)} of ${number(changed_count)} changed.`;
}

interface ChangesProps {
  readonly of: TemplateImport;
  readonly update: boolean;
  readonly onUpdate: (update: boolean) => void;
}

/** Differences from registered templates, which are applied only if the box is ticked. */
function Changes({ of, update, onUpdate }: ChangesProps) {
  return (
    <>
      {of.still_sent_count > 0 && (
        <p class="error" role="alert">
          {counted(of.still_sent_count, 'template')} of the file may be sent no more, says the DLT platform, and still{' '}
          {of.still_sent_count === 1 ? 'is' : 'are'}: carriers refuse such messages. Change them below.
        </p>
      )}
      <Table
        caption="Registered templates of which the file says something else"
        rows={of.changed}
        rowKey={({ template_id }) => template_id}
        columns={[
          { head: 'Line', cell: ({ line }) => number(line), kind: 'number' },
          { head: 'Template', cell: ({ template_id }) => template_id },
          {
            head: 'Registered → in the file',
            cell: ({ changes }) =>
              changes.map((change) => (
                <p key={change.field}>
                  {change.field}: <del>{change.old}</del> → <ins>{change.new}</ins>
                </p>
              )),
          },
        ]}
      />
      <Checkbox
        name="update"
        label={`Change ${counted(of.changed_count, 'registered template')} too`}
        checked={update}
        onChange={onUpdate}
      >
        A changed text waits for your service provider and is not sent until then.
      </Checkbox>
    </>
  );
}

function Preview({ of }: { readonly of: TemplateImport }) {
  return (
    <>
      <p role="status">
        {number(of.imported)} new, {number(of.known)} known already, {number(of.bad_rows_count)} bad rows that are left
        out.
      </p>
      {of.unusable_senders.map(({ sender, rows, status }) => (
        <p class="soft" key={sender}>
          {sender} ({number(rows)} rows) is {status}: ask your service provider for it.
        </p>
      ))}
      {of.bad_rows.length > 0 && (
        <Table
          caption="Bad rows"
          rows={of.bad_rows.slice(0, SHOWN_MAX)}
          rowKey={({ line, detail }) => `${line} ${detail}`}
          columns={[
            { head: 'Line', cell: ({ line }) => number(line), kind: 'number' },
            { head: 'What is wrong', cell: ({ detail }) => detail },
          ]}
        />
      )}
    </>
  );
}

function piecesOf(bytes: Uint8Array): string[] {
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) => {
    const piece = bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES);
    return btoa(Array.from(piece, (byte) => String.fromCharCode(byte)).join(''));
  });
}
