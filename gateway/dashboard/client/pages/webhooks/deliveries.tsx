import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../parts/filter.tsx';
import { number } from '../../parts/number.ts';
import { Card } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { DeliveryPanel } from './delivery-panel.tsx';
import { useEvents } from './event-boxes.tsx';
import { DELIVERY_STATES, type ListedDelivery, type Webhook } from './webhook.ts';

/** The delivery log: every event that was posted or will be. */
export function Deliveries({ webhook, path }: { readonly webhook: Webhook; readonly path: string }) {
  const filter = useUrlFilter('event', 'state', 'message_id');
  const list = usePages<ListedDelivery>(`${path}/deliveries`, filter.values);
  const [shown, setShown] = useState<string>();
  const states = Object.entries(DELIVERY_STATES).map(([state, { words }]) => [state, words] as const);
  const events = useEvents(webhook.channel).map(({ event }) => [event, event] as const);
  return (
    <Card title="Delivery log" actions={<Button onClick={list.reload}>Refresh</Button>}>
      <FilterBar filter={filter}>
        <FilterSelect filter={filter} name="event" label="Event" options={events} />
        <FilterSelect filter={filter} name="state" label="Status" options={states} />
        <FilterText filter={filter} name="message_id" label="Message" placeholder="msg_…" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Delivery log"
        rowKey={({ event_id }) => event_id}
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty icon="webhook">Nothing was posted yet. Send a message, or a test event.</Empty>
          )
        }
        columns={[
          {
            head: 'Event',
            cell: ({ event, event_id, message_id }) => (
              <button type="button" class="row-link" onClick={() => setShown(event_id)}>
                {event}
                {message_id !== null && <code class="soft">{message_id}</code>}
              </button>
            ),
          },
          { head: 'Stored', cell: (row) => <Time at={row.created_at} /> },
          {
            head: 'Status',
            cell: ({ state }) => <Badge tone={DELIVERY_STATES[state].tone}>{DELIVERY_STATES[state].words}</Badge>,
          },
          { head: 'Answer', cell: ({ last_attempt }) => last_attempt?.result ?? '–' },
          {
            head: 'ms',
            kind: 'number',
            cell: (row) => (row.last_attempt ? number(row.last_attempt.duration_ms) : '–'),
          },
          { head: 'Tries', kind: 'number', cell: ({ tries }) => number(tries) },
          { head: 'Next try', cell: (row) => <Time at={row.next_try_at} /> },
        ]}
      />
      {shown && (
        <DeliveryPanel
          webhook={webhook}
          path={path}
          eventId={shown}
          onClose={() => setShown(undefined)}
          onChange={list.reload}
        />
      )}
    </Card>
  );
}
