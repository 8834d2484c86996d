import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { chains } from '../../../../../endpoints/carriers/chains.ts';
import { put, remove } from '../../../api/http.ts';
import { useLoad } from '../../../api/load.ts';
import { may } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog, toast, toastProblem } from '../../../parts/dialog.tsx';
import { Field, Select, TextArea } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import { Card, Loading } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import type { Carriers } from '../carriers/carrier.tsx';

type Chains = AnswerOf<typeof chains>;
type Chain = Chains['chains'][number];

/** Telemarketers between the account and a carrier, for DLT's chain hash, where they are not the carrier's own. */
export function ChainsCard({ account }: { readonly account: string }) {
  const path = `/v2/admin/accounts/${account}/chains`;
  const loaded = useLoad<Chains>(path);
  const [edited, setEdited] = useState<Chain | 'new'>();
  const take = (carrier: string) =>
    remove(`${path}/${carrier}`).then(() => {
      toast("The carrier's own telemarketers count now.");
      loaded.reload();
    }, toastProblem);
  return (
    <Card
      title="Telemarketers (DLT chain)"
      lead="For the chain hash of India's DLT, where they differ from the carrier's own (its setting “DLT chain”)."
      actions={may('admin:routing') && <Button onClick={() => setEdited('new')}>Set telemarketers</Button>}
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
                ...(may('admin:routing')
                  ? [
                      {
                        head: 'Actions',
                        kind: 'actions' as const,
                        cell: (row: Chain) => (
                          <>
                            <Button look="quiet" onClick={() => setEdited(row)}>
                              Change <span class="hidden">{row.carrier_id}</span>
                            </Button>
                            <Button look="quiet" onClick={() => take(row.carrier_id)}>
                              Remove <span class="hidden">{row.carrier_id}</span>
                            </Button>
                          </>
                        ),
                      },
                    ]
                  : []),
              ]}
            />
          )
        }
      </Loading>
      {edited && (
        <ChainDialog
          path={path}
          {...(edited !== 'new' && { chain: edited })}
          onClose={() => setEdited(undefined)}
          onDone={loaded.reload}
        />
      )}
    </Card>
  );
}

interface ChainDialogProps {
  readonly path: string;
  readonly chain?: Chain;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ChainDialog({ path, chain, onClose, onDone }: ChainDialogProps) {
  const carriers = useLoad<Carriers>('/v2/admin/carriers');
  const options = (carriers.data?.carriers ?? []).map(({ carrier_id: id, name }) => [id, name] as const);
  return (
    <Dialog title="Set telemarketers" onClose={onClose}>
      <Form
        submit="Set telemarketers"
        onCancel={onClose}
        onSubmit={async (values) => {
          await put(`${path}/${encodeURIComponent(values.text('carrier'))}`, {
            telemarketers: values.lines('telemarketers'),
          });
          toast('Set. Workers follow it within seconds.');
          onDone();
          onClose();
        }}
      >
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
      </Form>
    </Dialog>
  );
}
