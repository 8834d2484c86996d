import { eventBody } from '../../../shared/events/catalogue.ts';
import type { InboundMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { HistoryEntry, MessageDocument } from '../../../shared/messages/document/message.ts';
import { makeMessage } from './webhooks/make.ts';

const AT = new Date('2026-11-21T04:30:01.987Z');

describe('events/catalogue', () => {
  it('message.delivered has the specification’s members, in its order', () => {
    const message = makeMessage({ operator: 'Jio', deliveredAt: new Date('2026-11-21T04:30:00Z') });

    expect(eventBody({ message, entry: { state: 'delivered', at: AT } })).to.equal(
      `{"event":"message.delivered","message_id":"${message._id}","to":"919876543210","status":"delivered","operator":"Jio",` +
        '"delivered_at":"2026-11-21T04:30:00+00:00","timestamp":"2026-11-21T04:30:01+00:00"}',
    );
  });

  it('message.sent has no delivered_at and a null operator', () => {
    const message = makeMessage({});

    expect(eventBody({ message, entry: { state: 'sent', at: AT } })).to.equal(
      `{"event":"message.sent","message_id":"${message._id}","to":"919876543210","status":"sent","operator":null,` +
        '"timestamp":"2026-11-21T04:30:01+00:00"}',
    );
  });

  for (const state of ['failed', 'expired', 'rejected'] as const) {
    it(`message.${state} tells the error`, () => {
      const message = makeMessage({ errorCode: '69', errorReason: 'submit failed' });

      expect(parsed(message, { state, at: AT })).to.deep.equal({
        event: `message.${state}`,
        message_id: message._id,
        to: '919876543210',
        status: state,
        operator: null,
        timestamp: '2026-11-21T04:30:01+00:00',
        error_code: '69',
        error_reason: 'submit failed',
      });
    });
  }

  it('an error that nobody explained is null, not missing', () => {
    expect(parsed(makeMessage({}), { state: 'expired', at: AT })).to.include({ error_code: null, error_reason: null });
  });

  it('the sender’s reference comes back in every event', () => {
    for (const state of ['sent', 'delivered', 'failed', 'expired', 'rejected'] as const) {
      expect(parsed(makeMessage({ reference: 'order 7' }), { state, at: AT })).to.include({ reference: 'order 7' });
    }
  });

  it('the operator of message.delivered is never null: the carrier stands in', () => {
    const claim = { id: 'clm_1', carrier: 'demo', epoch: 1, at: AT } as const;

    expect(parsed(makeMessage({ claim }), { state: 'delivered', at: AT })).to.include({ operator: 'demo' });
    expect(parsed(makeMessage({}), { state: 'delivered', at: AT })).to.include({ operator: 'unknown' });
  });

  it('a redo that finds the message further on tells the old change as it was', () => {
    const message = makeMessage({ state: 'delivered', deliveredAt: AT });

    expect(parsed(message, { state: 'sent', at: AT })).to.include({ event: 'message.sent', status: 'sent' });
    expect(parsed(message, { state: 'sent', at: AT })).not.to.have.property('delivered_at');
  });

  it('message.received has the specification’s members, then the provider’s, which take the place of none', () => {
    const message: InboundMessageDocument = {
      ...makeMessage({}),
      channel: 'chatapp',
      direction: 'in',
      state: 'received',
      to: '15550783881',
      from: '919876543210',
      upstreamId: 'wamid.1',
      inbound: { type: 'image', body: 'Look', more: { image: { id: '7001' }, event: 'message.read', timestamp: '1' } },
    };

    expect(eventBody({ message, entry: { state: 'received', at: AT } })).to.equal(
      `{"event":"message.received","from":"919876543210","message_id":"${message._id}","type":"image","body":"Look",` +
        '"timestamp":"2026-11-21T04:30:01+00:00","image":{"id":"7001"},"to":"15550783881"}',
    );
  });

  it('an opt-out names the customer, the number and the word', () => {
    const message: InboundMessageDocument = {
      ...makeMessage({}),
      channel: 'chatapp',
      direction: 'in',
      state: 'received',
      to: '56767',
      from: '919876543210',
      upstreamId: 'wamid.1',
      inbound: { type: 'text', body: 'Stop' },
    };

    expect(JSON.parse(eventBody({ message, entry: { state: 'opted_out', at: AT } }))).to.deep.equal({
      event: 'recipient.opted_out',
      message_id: message._id,
      recipient: '919876543210',
      number: '56767',
      word: 'Stop',
      timestamp: '2026-11-21T04:30:01+00:00',
      channel: 'sms',
    });
  });

  it('the text of the message is in no event', () => {
    for (const state of ['sent', 'delivered', 'failed', 'expired', 'rejected'] as const) {
      expect(eventBody({ message: makeMessage({ text: 'OTP 4711' }), entry: { state, at: AT } })).not.to.include(
        '4711',
      );
    }
  });
});

function parsed(message: MessageDocument, entry: HistoryEntry): unknown {
  return JSON.parse(eventBody({ message, entry }));
}
