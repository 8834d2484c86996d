import { expect } from 'chai';
import type { EndpointId } from '../../../shared/runtime/ids.ts';
import type { DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import { IN_FLIGHT_MAX, Lanes } from '../../../workers/webhooks/lanes.ts';
import { makeDelivery } from '../../shared/webhooks/make.ts';

function filled(lanes: Lanes, endpoint: EndpointId, count: number): DeliveryDocument[] {
  return Array.from({ length: count }, () => {
    const delivery = makeDelivery({ endpoint });
    lanes.add(delivery);
    return delivery;
  });
}

function drain(lanes: Lanes): DeliveryDocument[] {
  const all: DeliveryDocument[] = [];
  for (let next = lanes.next(); next !== undefined; next = lanes.next()) all.push(next);
  return all;
}

describe('webhooks worker: lanes', () => {
  it('serves endpoints in turn, whoever has the larger backlog', () => {
    const lanes = new Lanes({ perEndpoint: 3, isFailing: () => false });
    filled(lanes, 'whk_big', 50);
    filled(lanes, 'whk_small', 2);

    expect(drain(lanes).map(({ endpoint }) => endpoint)).to.deep.equal([
      'whk_big',
      'whk_small',
      'whk_big',
      'whk_small',
      'whk_big',
    ]);
  });

  it('keeps the order of an endpoint’s deliveries', () => {
    const lanes = new Lanes({ perEndpoint: 10, isFailing: () => false });
    const added = filled(lanes, 'whk_a', 10);

    expect(drain(lanes)).to.deep.equal(added);
  });

  it('never has more posts in flight to one endpoint than it may; each that ends makes room for one', () => {
    const lanes = new Lanes({ perEndpoint: 2, isFailing: () => false });
    filled(lanes, 'whk_a', 5);

    const [first] = drain(lanes);
    expect(lanes.inFlight).to.equal(2);
    if (first !== undefined) lanes.posted(first);

    expect(drain(lanes)).to.have.length(1);
    expect(lanes.inFlight).to.equal(2);
  });

  it('an endpoint that fails has one post in flight', () => {
    const lanes = new Lanes({ perEndpoint: 8, isFailing: (endpoint) => endpoint === 'whk_dead' });
    filled(lanes, 'whk_dead', 8);
    filled(lanes, 'whk_well', 8);

    const endpoints = drain(lanes).map(({ endpoint }) => endpoint);

    expect(endpoints.filter((endpoint) => endpoint === 'whk_dead')).to.have.length(1);
    expect(endpoints.filter((endpoint) => endpoint === 'whk_well')).to.have.length(8);
  });

  it('many slow endpoints leave slots for the others', () => {
    const lanes = new Lanes({ perEndpoint: 8, isFailing: () => false });
    for (let n = 0; n < 200; n++) filled(lanes, `whk_slow${n}`, 8);

    const hanging = drain(lanes);
    filled(lanes, 'whk_well', 1);

    expect(hanging.length).to.be.below(IN_FLIGHT_MAX);
    expect(new Set(hanging.map(({ endpoint }) => endpoint))).to.have.property('size', 200);
    expect(lanes.next()).to.include({ endpoint: 'whk_well' });
  });

  it('never has more posts in flight than a process may', () => {
    const lanes = new Lanes({ perEndpoint: 8, isFailing: () => false });
    for (let n = 0; n < 2 * IN_FLIGHT_MAX; n++) filled(lanes, `whk_${n}`, 2);

    expect(drain(lanes)).to.have.length(IN_FLIGHT_MAX);
  });

  it('a delivery is taken once, until its completion is written and no older read is under way', () => {
    const lanes = new Lanes({ perEndpoint: 2, isFailing: () => false });
    const delivery = makeDelivery({ endpoint: 'whk_a' });

    expect(lanes.add(delivery)).to.equal(true);
    expect(lanes.add(delivery)).to.equal(false);
    lanes.next();
    expect(lanes.add(delivery)).to.equal(false);
    lanes.posted(delivery);
    expect(lanes.add(delivery)).to.equal(false);
    expect(lanes.inHand(() => true)).to.equal(1);
    lanes.completed(delivery);
    expect(lanes.inHand(() => true)).to.equal(0);
    expect(lanes.add(delivery)).to.equal(false);
    lanes.forgetCompleted();
    expect(lanes.add(delivery)).to.equal(true);
  });

  it('a full lane takes no more, and asks for more when a quarter is left', () => {
    const lanes = new Lanes({ perEndpoint: 1, isFailing: () => false });
    expect(lanes.wanted('whk_a')).to.equal(32);

    filled(lanes, 'whk_a', 40);

    expect(lanes.queued).to.equal(32);
    expect(lanes.wanted('whk_a')).to.equal(0);
    for (let n = 0; n < 25; n++) {
      const delivery = lanes.next();
      if (delivery !== undefined) lanes.posted(delivery);
    }
    // Those that are completing are still due in the store and read again.
    expect(lanes.wanted('whk_a')).to.equal(32 + 25);
  });

  it('lets go of what is queued for an endpoint; what is in flight stays in hand', () => {
    const lanes = new Lanes({ perEndpoint: 2, isFailing: () => false });
    const [first, second, third] = filled(lanes, 'whk_a', 3);
    filled(lanes, 'whk_b', 1);
    lanes.next();

    lanes.letGo((endpoint) => endpoint === 'whk_a');

    expect(lanes.inHand((endpoint) => endpoint === 'whk_a')).to.equal(1);
    expect(drain(lanes).map(({ endpoint }) => endpoint)).to.deep.equal(['whk_b']);
    if (first !== undefined) expect(lanes.add(first)).to.equal(false);
    if (second !== undefined && third !== undefined) expect(lanes.add(second) && lanes.add(third)).to.equal(true);
    expect(drain(lanes)).to.have.length(1);
  });

  it('forgets endpoints that have nothing in hand', () => {
    const lanes = new Lanes({ perEndpoint: 2, isFailing: () => false });
    filled(lanes, 'whk_a', 1);
    filled(lanes, 'whk_b', 1);
    for (const delivery of drain(lanes)) {
      lanes.posted(delivery);
      lanes.completed(delivery);
    }

    expect([...lanes.endpoints()]).to.deep.equal([]);
  });
});
