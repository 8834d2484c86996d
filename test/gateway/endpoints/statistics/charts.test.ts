import { expect } from 'chai';
import { createCarrier } from '../../../../shared/carriers/carrier-store.ts';
import { raisePeaks } from '../../../../shared/conditions/peaks.ts';
import { ALL, HOUR_MS, type HourDocument, hourName, SECONDS } from '../../../../shared/messages/statistics-hour.ts';
import { hourCollection } from '../../../../shared/messages/statistics-store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { operatorAtGateway } from '../operators-world.ts';

describe('GET /v2/admin/charts', () => {
  const world = operatorAtGateway(0);

  it('has a value for each step: what was counted of all accounts, and the highest that was seen of carriers', async () => {
    await createCarrier(world.db, systemClock, TEST_BOX, {
      ...{ _id: 'airtel', name: 'Airtel', host: 'smpp.example.com', port: 2775, systemId: 'harkara' },
      password: 'hunter2!',
    });
    const now = new Date();
    const before = new Date(now.getTime() - HOUR_MS);
    for (const waiting of [7, 60, 3]) await raisePeaks(world.db, before, new Map([['airtel', { waiting, p99: 80 }]]));
    const hour: HourDocument = {
      ...{ _id: `${ALL}:${hourName(before)}`, account: ALL, countedAt: now, credits: 10, conversations: 0, errors: [] },
      ...{ states: { sms: { delivered: 8, rejected: 2, queued: 1 } }, traffic: [], expiresAt: new Date(9e12) },
      operators: [
        { name: 'Airtel', channel: 'sms', ended: 10, delivered: 8, within: [...SECONDS.map(() => 0), 0].with(1, 8) },
      ],
    };
    await hourCollection(world.db).insertOne(hour);

    for (const [period, steps] of [
      ['24h', 24],
      ['7d', 168],
    ] as const) {
      const { body } = await world.get(`/charts?period=${period}`);
      expect(body.times).to.have.length(steps);
      const lastTwo = (values: readonly unknown[]) => values.slice(-2);
      expect(lastTwo(body.messages.delivered)).to.deep.equal([8, 0]);
      expect(lastTwo(body.messages.failed)).to.deep.equal([2, 0]);
      const [operator, ...others] = body.operators;
      expect(others).to.deep.equal([]);
      expect(lastTwo(operator.delivery_rate)).to.deep.equal([0.8, null]);
      expect(operator.seconds_p50.at(-2)).to.be.within(1, 2);
      expect(lastTwo(body.carriers[0].waiting)).to.deep.equal([60, null]);
      expect(lastTwo(body.carriers[0].answer_ms_p99)).to.deep.equal([80, null]);
    }
    const { body } = await world.get('/charts?period=30d');
    expect(body.times).to.have.length(30);
    expect(Math.max(...body.carriers[0].waiting)).to.equal(60);
  });
});
