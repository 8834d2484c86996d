import { Checkboxes } from '../../parts/checkbox.tsx';
import { CHANNEL_EVENTS, type Channel } from './channel-events.ts';

interface EventBoxesProps {
  readonly channel: Channel;
  /** Absent: all of the channel. */
  readonly initial?: readonly string[];
}

/** Which events are posted. */
export function EventBoxes({ channel, initial }: EventBoxesProps) {
  const events = CHANNEL_EVENTS[channel];
  return (
    <Checkboxes
      key={channel}
      name="events"
      legend="Events"
      options={events.map((event) => ({ value: event, label: event }))}
      initial={initial ?? events}
    />
  );
}
