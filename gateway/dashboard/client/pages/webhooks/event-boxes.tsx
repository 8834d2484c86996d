import { usePages } from '../../api/pages.ts';
import { Checkboxes } from '../../parts/checkbox.tsx';
import type { Channel, OfferedEvent } from './webhook.ts';

interface EventBoxesProps {
  readonly channel: Channel;
  /** Absent: all of the channel. */
  readonly initial?: readonly string[];
}

/** Which events are posted. */
export function EventBoxes({ channel, initial }: EventBoxesProps) {
  const events = useEvents(channel);
  if (events.length === 0) return null;
  const names = events.map(({ event }) => event);
  return (
    <Checkboxes
      key={channel}
      name="events"
      legend="Events"
      options={events.map(({ event, when }) => ({ value: event, label: event, hint: when }))}
      initial={initial ?? names}
    />
  );
}

/** The events of a channel; none until they are read. */
export function useEvents(channel: Channel): readonly OfferedEvent[] {
  const { rows = [] } = usePages<OfferedEvent>('/v2/account/webhook-events');
  return rows.filter(({ channels }) => channels.includes(channel));
}
