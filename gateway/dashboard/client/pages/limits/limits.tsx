import { put } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { FormDialog, useDialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form.tsx';
import { Card, Loading, PageHead } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import type { Key } from '../keys/keys.tsx';
import {
  CapFields,
  capText,
  HoldsCard,
  type KeyCaps,
  type Limits,
  RecipientFacts,
  SpendingStats,
} from './limits-parts.tsx';

const PATH = '/v2/account/limits';

/** What the account and its keys may spend, and whom it may send to. */
export function LimitsPage() {
  const loaded = useLoad<Limits>(PATH);
  const [dialog, open] = useDialog();
  const ask = (of?: KeyCaps) => open(<CapsDialog known={of} onDone={loaded.reload} />);
  const set = may('manage') && <Button onClick={() => ask()}>Set what a key may spend</Button>;
  return (
    <>
      <PageHead
        title="Limits"
        lead="Sends beyond a limit are refused and cost nothing. Your service provider sets the limits of the account, you those of its keys."
      />
      <Loading of={loaded}>
        {(limits) => (
          <>
            <SpendingStats day={limits.day} month={limits.month} />
            <HoldsCard holds={limits.holds} path="/v2/account" mayRelease={may('manage')} onDone={loaded.reload} />
            <Card title="Whom you may send to">
              <RecipientFacts limits={limits} />
            </Card>
            <Card
              title="What keys may spend"
              lead="A key that is stolen, or a program that runs wild, spends no more than this. The keys that a key makes count for it."
              actions={set}
            >
              {limits.keys.length === 0 ? (
                <p class="soft">No key has a cap of its own.</p>
              ) : (
                <Table
                  caption="Keys with caps"
                  rows={limits.keys}
                  rowKey={({ key_id }) => key_id}
                  columns={[
                    { head: 'Key', cell: ({ name }) => <strong>{name}</strong> },
                    { head: 'Today', cell: ({ day }) => capText(day) },
                    { head: 'This month', cell: ({ month }) => capText(month) },
                  ]}
                  acts={may('manage') && ((row) => [['Change', row.name, () => ask(row)]])}
                />
              )}
            </Card>
          </>
        )}
      </Loading>
      {dialog}
    </>
  );
}

interface CapsDialogProps {
  /** Absent: the key is chosen too. */
  readonly known: KeyCaps | undefined;
  readonly onDone: () => void;
}

const NONE = { cap: null, spent: 0, resets_on: '' };

function CapsDialog({ known, onDone }: CapsDialogProps) {
  const send = async (values: FormValues) => {
    await put(`/v2/account/keys/${known?.key_id ?? values.text('key')}/caps`, {
      spend_per_day: values.number('spend_per_day'),
      spend_per_month: values.number('spend_per_month'),
    });
    onDone();
    return 'The caps hold within seconds.';
  };
  return (
    <FormDialog
      title={known ? `What may ${known.name} spend?` : 'What may a key spend?'}
      submit="Set caps"
      onSubmit={send}
    >
      {!known && <KeyField />}
      <CapFields day={known?.day ?? NONE} month={known?.month ?? NONE} />
    </FormDialog>
  );
}

function KeyField() {
  const keys = useLoad<{ readonly data: readonly Key[] }>('/v2/account/keys', { state: 'active', limit: 100 });
  return (
    <Loading of={keys}>
      {({ data }) => <Select name="key" label="Key" options={data.map(({ key_id, name }) => [key_id, name])} />}
    </Loading>
  );
}
