import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { remove } from '../../../api/http.ts';
import { useLive } from '../../../api/live.ts';
import { useLoad } from '../../../api/load.ts';
import { may } from '../../../api/session.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Form } from '../../../parts/form.tsx';
import { number } from '../../../parts/number.ts';
import { Card, Loading, PageHead } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { toast } from '../../../parts/toast.tsx';
import type { PageProps } from '../../../router/page.ts';
import { type BindTest, BindTestResult, testBind } from './bind-test.tsx';
import { type Carrier, type CarrierDetail, type Carriers, rateOf, readable, toneOf, WORDS } from './carrier.ts';
import { PauseDialog } from './pause-dialog.tsx';
import { SettingsCard } from './settings-card.tsx';

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
