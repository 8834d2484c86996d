import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { chains } from '../../../../../endpoints/carriers/chains.ts';
import { put, remove } from '../../../api/http.ts';
import { useLoad } from '../../../api/load.ts';
import { may } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { FormDialog, toast, toastProblem, useDialog } from '../../../parts/dialog.tsx';
import { Field, Select, TextArea } from '../../../parts/field.tsx';
import type { FormValues } from '../../../parts/form.tsx';
import { Card, Loading } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import type { Carriers } from '../carriers/carrier.tsx';

type Chains = AnswerOf<typeof chains>;
type Chain = Chains['chains'][number];

/** Telemarketers between the account and a carrier, for DLT's chain hash, where they are not the carrier's own. */
export function ChainsCard({ account }: { readonly account: string }) {
  const path = `/v2/admin/accounts/${account}/chains`;
  const loaded = useLoad<Chains>(path);
  const [dialog, open] = useDialog();
  const edit = (chain?: Chain) => open(<ChainDialog path={path} chain={chain} onDone={loaded.reload} />);
  const take = (carrier: string) =>
    remove(`${path}/${carrier}`).then(() => {
      toast("The carrier's own telemarketers count now.");
      loaded.reload();
    }, toastProblem);
  return (
    <Card
      title="Telemarketers (DLT chain)"
      lead="For the chain hash of India's DLT, where they differ from the carrier's own (its setting “DLT chain”)."
      actions={may('admin:routing') && <Button onClick={() => edit()}>Set telemarketers</Button>}
    >
      <Loading of={loaded}>
        {({ chains }) =>
          chains.length === 0 ? (
            <p class="soft">The carriers' own count.</p>
          ) : (
            <Table
              caption="Telemarketers"
              rows={chains}
              rowKey={({ carrier_id }) => carrier_id}
              columns={[
                { head: 'Carrier', cell: ({ carrier_id }) => carrier_id },
                { head: 'Telemarketers', cell: ({ telemarketers }) => telemarketers.join(', ') },
              ]}
              acts={
                may('admin:routing') &&
                ((row) => [
                  ['Change', row.carrier_id, () => edit(row)],
                  ['Remove', row.carrier_id, () => take(row.carrier_id)],
                ])
              }
            />
          )
        }
      </Loading>
      {dialog}
    </Card>
  );
}

interface ChainDialogProps {
  readonly path: string;
  readonly chain: Chain | undefined;
  readonly onDone: () => void;
}

function ChainDialog({ path, chain, onDone }: ChainDialogProps) {
  const carriers = useLoad<Carriers>('/v2/admin/carriers');
  const options = (carriers.data?.carriers ?? []).map(({ carrier_id: id, name }) => [id, name] as const);
  const send = async (values: FormValues) => {
    const telemarketers = values.lines('telemarketers');
    await put(`${path}/${encodeURIComponent(values.text('carrier'))}`, { telemarketers });
    onDone();
    return 'Set. Workers follow it within seconds.';
  };
  return (
    <FormDialog title="Set telemarketers" submit="Set telemarketers" onSubmit={send}>
      {chain ? (
        <Field name="carrier" label="Carrier" value={chain.carrier_id} />
      ) : (
        <Select name="carrier" label="Carrier" options={options} />
      )}
      <TextArea
        name="telemarketers"
        label="Telemarketers"
        rows={4}
        initial={chain?.telemarketers.join('\n') ?? ''}
        hint="Their ids, one on each line: from the first after the business to the one that delivers."
      />
    </FormDialog>
  );
}
