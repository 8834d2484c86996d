import { type DeliveryDocument, deliveryId } from '../../../../shared/events/webhooks/delivery.ts';
import { changeSpans, postSpan, requestSpan } from '../../../../shared/events/webhooks/trace.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { type BatchId, eventId, idTime, newId } from '../../../../shared/platform/runtime/ids.ts';
import { contextOf, type Span } from '../../../../shared/platform/runtime/tracer.ts';
import { makeInboundSms, makeMessage } from '../../../support/make.ts';

const id = newId('msg');
const accepted = idTime(id);
const later = (ms: number) => new Date(accepted.getTime() + ms);
const claim = { id: newId('clm'), carrier: 'airtel', epoch: 1, at: later(20) };
const sent = { state: 'sent', at: later(50) } as const;
const delivered = { state: 'delivered', at: later(900) } as const;

function shown({ name, start, end, error }: Span): string {
  const times = `${name} ${start.getTime() - accepted.getTime()}-${end.getTime() - accepted.getTime()}`;
  return error === undefined ? times : `${times} ${error}`;
}

describe('the trace of a message', () => {
  const cases: readonly [string, Partial<MessageDocument>, readonly string[]][] = [
    ['was sent', { claim, history: [sent] }, ['message 0-50', 'queue 0-20', 'submit 20-50']],
    ['was delivered', { claim, history: [sent, delivered] }, ['receipt 50-900']],
    [
      'failed by its receipt',
      { claim, history: [sent, { state: 'failed', at: later(70), error: { code: '021' } }] },
      ['receipt 50-70 021'],
    ],
    [
      'was taken by the second carrier',
      {
        claim,
        attempts: [{ carrier: 'jio', at: later(5), code: '0x0B', reason: 'refused' }],
        history: [sent],
      },
      ['message 0-50', 'queue 0-5', 'submit 5-20 0x0B', 'submit 20-50'],
    ],
    [
      'expired in the queue',
      { history: [{ state: 'expired', at: later(99) }] },
      ['message 0-99 expired', 'queue 0-99'],
    ],
  ];
  for (const [what, message, spans] of cases) {
    it(`of one that ${what}`, () => {
      const stored = makeMessage({ _id: id, ...message });
      const entry = stored.history.at(-1);
      expect(entry && changeSpans({ message: stored, entry }).map(shown)).eql(spans);
    });
  }

  it('is one tree, whoever adds to it, and names no number and no text', () => {
    const message = makeMessage({ _id: id, claim, history: [sent, delivered] });
    const request = {
      made: id,
      method: 'POST',
      route: '/v2/send',
      status: 200,
      ms: 4,
      end: later(3),
      account: 'acc_a',
    };
    const endpoint = newId('whk');
    const event = eventId(id, 'sent');
    const delivery: DeliveryDocument = {
      ...{
        _id: deliveryId(event, endpoint),
        account: message.account,
        endpoint,
        eventId: event,
        event: 'message.sent',
      },
      ...{ message: id, body: message.text, state: 'due', attempts: [], createdAt: sent.at },
    };
    const posted = { result: 500, durationMs: 7 };

    const [root, ...parts] = [
      ...changeSpans({ message, entry: sent }),
      ...changeSpans({ message, entry: delivered }),
      requestSpan({ ...request, caller: undefined }),
      postSpan(delivery, id, 'example.com', posted, later(60)),
    ];

    expect(parts.map(({ parent }) => parent)).eql(parts.map(() => root?.key));
    expect(new Set(parts.map(({ trace, key }) => contextOf(trace, key).spanId))).to.have.length(parts.length);
    expect(parts.at(-1)?.error).equal('500');
    const told = JSON.stringify([root, ...parts]);
    expect(told).not.to.include(message.to);
    expect(told).not.to.include(message.text);
  });

  it('has a link from the message of a batch to the request that made the batch', () => {
    const batch: BatchId = newId('bat');
    const message = makeMessage({ _id: id, batch, claim, history: [sent] });
    const made = { made: batch, method: 'POST', route: '/v2/send-bulk', status: 200, ms: 4, end: sent.at };

    const request = requestSpan({ ...made, account: message.account, caller: undefined });

    expect(request.parent).equal(undefined);
    expect(changeSpans({ message, entry: sent })[0]?.link).eql(contextOf(request.trace, request.key));
  });

  it('of a received SMS is one span', () => {
    const message = makeInboundSms();
    const [entry] = message.history;
    expect(entry && changeSpans({ message, entry }).map(({ name }) => name)).eql(['message']);
  });
});
