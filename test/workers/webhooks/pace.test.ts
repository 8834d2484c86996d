import { expect } from 'chai';
import type { DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import { EndpointQueues } from '../../../workers/webhooks/endpoint-queues.ts';
import { Paces } from '../../../workers/webhooks/pace.ts';
import { makeDelivery } from '../../shared/webhooks/make.ts';
import { Prng } from '../../support/prng.ts';

const ENDPOINT = 'whk_a';

/** What an endpoint may have in flight after so many answers. `tookMs`: how long each takes with so many in flight. */
function slotsAfter(answers: number, tookMs: (inFlight: number) => number, most = 64): number {
  const paces = new Paces(most);
  for (let i = 0; i < answers; i++) paces.acknowledged(ENDPOINT, tookMs(paces.slots(ENDPOINT)), true, 0);
  return paces.slots(ENDPOINT);
}

describe('webhooks worker: how many posts an endpoint may have in flight', () => {
  it('begins with eight, or with what the setting allows', () => {
    expect([slotsAfter(0, () => 5), slotsAfter(0, () => 5, 3)]).to.deep.equal([8, 3]);
  });

  it('grows by one with each round of answers that are as quick as before, up to the setting', () => {
    const [round, long, limited] = [
      slotsAfter(9, () => 200),
      slotsAfter(5_000, () => 200),
      slotsAfter(5_000, () => 200, 20),
    ];

    expect([round, long, limited]).to.deep.equal([9, 64, 20]);
  });

  it('grows though some answers take three times as long as others', () => {
    const random = new Prng(1);

    expect(slotsAfter(5_000, () => 50 + random.fraction() * 100)).to.equal(64);
  });

  it('does not grow while nothing more waits', () => {
    const paces = new Paces(64);

    for (let i = 0; i < 1_000; i++) paces.acknowledged(ENDPOINT, 200, false, 0);

    expect(paces.slots(ENDPOINT)).to.equal(8);
  });

  it('stays low for a receiver that handles one after the other', () => {
    expect(slotsAfter(20_000, (inFlight) => inFlight * 10)).to.be.within(8, 15);
  });

  it('grows little beyond what the receiver handles at a time', () => {
    expect(slotsAfter(20_000, (inFlight) => 50 * Math.max(inFlight / 30, 1))).to.be.within(30, 58);
  });

  it('takes no slow beginning for the usual time', () => {
    const paces = new Paces(64);
    const answers = (count: number, tookMs: (inFlight: number) => number): void => {
      for (let i = 0; i < count; i++) paces.acknowledged(ENDPOINT, tookMs(paces.slots(ENDPOINT)), true, 0);
    };

    answers(8, () => 300); // connections are made
    answers(20_000, (inFlight) => inFlight * 5);

    expect(paces.slots(ENDPOINT)).to.be.within(8, 30);
  });

  it('grows again when the receiver has become slower for good', () => {
    const paces = new Paces(64);
    const answer = (tookMs: number): void => paces.acknowledged(ENDPOINT, tookMs, true, 0);
    for (let i = 0; i < 5_000; i++) answer(10);

    for (let i = 0; i < 100; i++) answer(200);
    const soon = paces.slots(ENDPOINT);
    for (let i = 0; i < 20_000; i++) answer(200);

    expect(soon).to.be.below(64);
    expect(paces.slots(ENDPOINT)).to.equal(64);
  });

  it('forgets an endpoint that had no answer for a minute', () => {
    const paces = new Paces(64);
    for (let i = 0; i < 1_000; i++) paces.acknowledged(ENDPOINT, 200, true, 0);

    paces.forgetIdle(60_000);
    const before = paces.slots(ENDPOINT);
    paces.forgetIdle(60_001);

    expect(before).to.be.above(8);
    expect(paces.slots(ENDPOINT)).to.equal(8);
  });

  it('counts for an endpoint’s queue, and begins anew after a failure', () => {
    const nowMs = (): number => 0;
    const queues = new EndpointQueues({ perEndpoint: 64, isFailing: () => false, hostOf: () => 'a.example', nowMs });
    for (let n = 0; n < 400; n++) queues.add(makeDelivery({ endpoint: ENDPOINT }));
    const inFlight: DeliveryDocument[] = [];
    const begin = (): void => {
      for (let next = queues.next(); next !== undefined; next = queues.next()) inFlight.push(next);
    };
    const end = (tookMs: number | undefined): void => {
      const delivery = inFlight.shift();
      if (delivery === undefined) throw new Error('nothing is in flight');
      queues.answered(delivery, tookMs);
      queues.posted(delivery);
      queues.completed(delivery);
      begin();
    };
    begin();

    const first = inFlight.length;
    for (let i = 0; i < 50; i++) end(100);
    const grown = inFlight.length;
    for (let i = 0; i < grown; i++) end(undefined);

    expect([first, grown, inFlight.length]).to.deep.equal([8, 12, 8]);
  });
});
