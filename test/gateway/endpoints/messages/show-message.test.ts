import { type DeliveryDocument, deliveryId } from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import type { HistoryEntry } from '../../../../shared/messages/document/message.ts';
import { type AccountId, eventId, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { groupsOf, makeGroup } from '../../../shared/events/webhooks/make.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { messagesAt } from './messages-at.ts';

describe('GET /v2/messages/{message_id}', () => {
  const site = accountAtGateway(100);

  const { ask, sent, soon } = messagesAt(site);
  const makeEndpoint = async (owner: AccountId): Promise<EndpointDocument['_id']> => {
    const _id = newId('whk');
    await site.db.collection<EndpointDocument>('endpoints').insertOne({
      _id,
      account: owner,
      channel: 'sms',
      url: 'https://example.com/hook',
      place: 0,
      events: ['message.sent', 'message.delivered'],
      secrets: [{ sealed: 'sealed' }],
      status: 'active',
      createdAt: new Date(),
    });
    return _id;
  };
  const deliver = async (
    message: MessageId,
    state: Exclude<HistoryEntry['state'], 'opted_out' | 'opted_in'>,
    endpoint: EndpointDocument['_id'],
    attempts: DeliveryDocument['attempts'],
  ): Promise<void> => {
    const event = eventId(message, state);
    await site.db.collection<DeliveryDocument>('deliveries').insertOne({
      _id: deliveryId(event, endpoint),
      account: site.account,
      endpoint,
      eventId: event,
      event: `message.${state}`,
      message,
      body: 'the body',
      state: 'done',
      attempts,
      createdAt: new Date(),
    });
  };

  describe('200', () => {
    it('a new message: accepted and paid, nothing else', async () => {
      const id = await sent();

      const { status, body } = await ask(id);

      expect(status).to.equal(200);
      const { created_at: createdAt, valid_until: validUntil, timeline, explanation, ...rest } = body;
      expect(explanation.cause).to.equal('No carrier takes messages on its path now.');
      expect(Date.parse(validUntil) - Date.parse(createdAt)).to.be.closeTo(48 * 3_600_000, 60_000);
      expect(rest).to.deep.equal({
        message_id: id,
        to: '919876543210',
        status: 'queued',
        delivered_at: null,
        operator: null,
        channel: 'sms',
        sender: 'HARKRA',
        route: 'transactional',
        segments: 1,
        encoding: 'GSM7',
        path: 'transactional',
        carrier: null,
        tries: 0,
        parts: [],
        webhooks: [],
        text: 'a secret text',
        text_shown: 'whole',
      });
      expect(timeline.map((entry: object) => ({ ...entry, at: '' }))).to.deep.equal([
        { at: '', what: 'accepted' },
        { at: '', what: 'path', path: 'transactional' },
        { at: '', what: 'paid', credits: 1, ledger_seq: 2, change_id: timeline[2].change_id },
      ]);
    });

    it('a failed message: what happened, and what to do', async () => {
      const failed = { state: 'failed', errorCode: '1', errorReason: 'The number does not exist' } as const;

      const { body } = await ask(await sent(failed));

      expect(body.explanation).to.deep.equal({
        cause: 'The number does not exist.',
        advice: 'Remove the number from your list, or ask the recipient for the right one.',
      });
    });

    it('an answer to a customer names the message that it answers', async () => {
      const inReplyTo = newId('msg');

      const { body } = await ask(await sent({ inReplyTo }));

      expect(body.in_reply_to).to.equal(inReplyTo);
    });

    it('a delivered message: carrier, parts, states and every webhook attempt, in order', async () => {
      const endpoint = await makeEndpoint(site.account);
      const id = await sent({
        state: 'delivered',
        segments: 2,
        claim: { id: newId('clm'), carrier: 'alpha', epoch: 1, at: soon(1) },
        parts: [
          { key: 'alpha:12:ab', state: 'delivered' },
          { state: 'refused', error: '69' },
        ],
        history: [
          { state: 'sent', at: soon(2) },
          { state: 'delivered', at: soon(5) },
        ],
      });
      await deliver(id, 'sent', endpoint, [
        { at: soon(3), result: 500, durationMs: 12.4, excerpt: 'no' },
        { at: soon(4), result: 200, durationMs: 5 },
      ]);
      await deliver(id, 'delivered', endpoint, [{ at: soon(6), result: 'timeout', durationMs: 10_000 }]);

      const { body } = await ask(id);

      expect(body).to.deep.include({
        status: 'delivered',
        carrier: 'alpha',
        parts: [
          { number: 1, state: 'delivered', carrier_message_id: '12:ab', error: null },
          { number: 2, state: 'refused', carrier_message_id: null, error: '69' },
        ],
      });
      expect(body.webhooks).to.have.deep.members([
        { event_id: eventId(id, 'sent'), event: 'message.sent', webhook_id: endpoint, state: 'done', attempts: 2 },
        {
          event_id: eventId(id, 'delivered'),
          event: 'message.delivered',
          webhook_id: endpoint,
          state: 'done',
          attempts: 1,
        },
      ]);
      expect(body.timeline.slice(3).map((entry: object) => ({ ...entry, at: '' }))).to.deep.equal([
        { at: '', what: 'taken', carrier: 'alpha' },
        { at: '', what: 'state', status: 'sent' },
        { at: '', what: 'webhook', event: 'message.sent', webhook_id: endpoint, result: 500, duration_ms: 12 },
        { at: '', what: 'webhook', event: 'message.sent', webhook_id: endpoint, result: 200, duration_ms: 5 },
        { at: '', what: 'state', status: 'delivered' },
        {
          at: '',
          what: 'webhook',
          event: 'message.delivered',
          webhook_id: endpoint,
          result: 'timeout',
          duration_ms: 10_000,
        },
      ]);
    });

    it('an event that was posted with those of other messages is shown like any other', async () => {
      const endpoint = await makeEndpoint(site.account);
      const [id, other] = [await sent({ history: [{ state: 'sent', at: soon(2) }] }), await sent()];
      const attempts = [7, 8].map((durationMs) => ({ at: soon(3), result: 200, durationMs }));
      const items = [other, id].map((message) => {
        return { eventId: eventId(message, 'sent'), event: 'message.sent', body: '{}' } as const;
      });
      await groupsOf(site.db).insertOne(
        makeGroup({ endpoint, account: site.account, state: 'done', attempts, items }, 2),
      );

      const { body } = await ask(id);

      expect(body.webhooks).to.deep.equal([
        { event_id: eventId(id, 'sent'), event: 'message.sent', webhook_id: endpoint, state: 'done', attempts: 1 },
      ]);
      expect(body.timeline.at(-1)).to.include({ what: 'webhook', webhook_id: endpoint, result: 200, duration_ms: 8 });
    });

    it('an unknown outcome, and a message that nothing more will be heard of', async () => {
      const unknown = await sent({ state: 'submitting', outcome: 'unknown' });
      const closed = await sent({ state: 'sent', closedReason: 'no_receipt' });

      expect((await ask(unknown)).body).to.include({ status: 'queued', outcome: 'unknown' });
      expect((await ask(closed)).body).to.include({ status: 'sent', closed_reason: 'no_receipt' });
    });

    it("shows nothing of another account's endpoints", async () => {
      const theirs = await makeEndpoint(await makeAccount(site.db, 0));
      const id = await sent({ state: 'sent', history: [{ state: 'sent', at: new Date() }] });
      await deliver(id, 'sent', theirs, [{ at: new Date(), result: 200, durationMs: 1 }]);

      expect((await ask(id)).body.webhooks).to.deep.equal([]);
    });
  });

  it('404: of another account, never made, or no id at all', async () => {
    const id = await sent();
    const stranger = await makeKey(site.db, await makeAccount(site.db, 0));

    expectProblem(await ask(id, stranger), 'message_not_found');
    for (const never of [newId('msg'), 'msg_x', newId('bat'), '%00']) {
      expectProblem(await ask(never), 'message_not_found');
    }
  });
});
