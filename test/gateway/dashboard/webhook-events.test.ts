import { expect } from 'chai';
import { CHANNEL_EVENTS } from '../../../gateway/dashboard/client/pages/webhooks/channel-events.ts';
import { eventsOf } from '../../../shared/events/catalogue.ts';

describe('the events that the webhooks page offers', () => {
  for (const channel of ['sms', 'chatapp'] as const) {
    it(`are those of the catalogue: ${channel}`, () => {
      expect(CHANNEL_EVENTS[channel]).to.have.members(eventsOf(channel));
    });
  }
});
