import { expect } from 'chai';
import type { AccountId, EndpointId } from '../../../shared/runtime/ids.ts';
import type { DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import { Lanes, type LanesOptions } from '../../../workers/webhooks/lanes.ts';
import { IN_FLIGHT_MAX, SLOW_MAX, SLOW_MS } from '../../../workers/webhooks/share.ts';
import { makeDelivery } from '../../shared/webhooks/make.ts';

let nowMs = 0;

/** Every endpoint has a host of its own unless told otherwise. */
function openLanes(options: Partial<LanesOptions>): Lanes {
  return new Lanes({
    perEndpoint: 8,
    isFailing: () => false,
    hostOf: (endpoint) => `${endpoint}.example`,
    nowMs: () => nowMs,
    ...options,
  });
}

/** Each endpoint has an account of its own unless one is given. */
function filled(
  lanes: Lanes,
  endpoint: EndpointId,
  count: number,
  account: AccountId = `acc_of_${endpoint}`,
): DeliveryDocument[] {
  return Array.from({ length: count }, () => {
    const delivery = makeDelivery({ endpoint, account });
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
  beforeEach(() => {
    nowMs = 0;
  });

  it('serves endpoints in turn, whoever has the larger backlog', () => {
    const lanes = openLanes({ perEndpoint: 3 });
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
    const lanes = openLanes({ perEndpoint: 10 });
    const added = filled(lanes, 'whk_a', 10);

    expect(drain(lanes)).to.deep.equal(added);
  });

  it('never has more posts in flight to one endpoint than it may; each that ends makes room for one', () => {
    const lanes = openLanes({ perEndpoint: 2 });
    filled(lanes, 'whk_a', 5);

    const [first] = drain(lanes);
    expect(lanes.inFlight).to.equal(2);
    if (first !== undefined) lanes.posted(first);

    expect(drain(lanes)).to.have.length(1);
    expect(lanes.inFlight).to.equal(2);
  });

  it('an endpoint that fails has one post in flight', () => {
    const lanes = openLanes({ perEndpoint: 8, isFailing: (endpoint) => endpoint === 'whk_dead' });
    filled(lanes, 'whk_dead', 8);
    filled(lanes, 'whk_well', 8);

    const endpoints = drain(lanes).map(({ endpoint }) => endpoint);

    expect(endpoints.filter((endpoint) => endpoint === 'whk_dead')).to.have.length(1);
    expect(endpoints.filter((endpoint) => endpoint === 'whk_well')).to.have.length(8);
  });

  it('many slow endpoints leave slots for the others', () => {
    const lanes = openLanes({ perEndpoint: 8 });
    for (let n = 0; n < 200; n++) filled(lanes, `whk_slow${n}`, 8);

    const hanging = drain(lanes);
    filled(lanes, 'whk_well', 1);

    expect(hanging.length).to.be.below(IN_FLIGHT_MAX);
    expect(new Set(hanging.map(({ endpoint }) => endpoint))).to.have.property('size', 200);
    expect(lanes.next()).to.include({ endpoint: 'whk_well' });
  });

  it('whatever one account is owed, and to however many endpoints, another’s goes at once', () => {
    const lanes = openLanes({});
    for (let n = 0; n < 700; n++) filled(lanes, `whk_greedy${n}`, 8, 'acc_greedy');

    const greedy = drain(lanes);
    filled(lanes, 'whk_well', 8);

    expect(greedy.length).to.be.within(80, IN_FLIGHT_MAX / 4);
    expect(drain(lanes).map(({ endpoint }) => endpoint)).to.deep.equal(Array.from({ length: 8 }, () => 'whk_well'));
  });

  it('an account’s endpoints have their turns also when the account has all that it may', () => {
    const lanes = openLanes({});
    for (let n = 0; n < 200; n++) filled(lanes, `whk_${n}`, 2, 'acc_one');

    const inFlight = drain(lanes);
    const seen = new Set(inFlight.map(({ endpoint }) => endpoint));
    for (let n = 0; n < 400; n++) {
      const [first] = inFlight;
      if (first !== undefined) lanes.posted(first);
      inFlight.shift();
      const next = drain(lanes);
      inFlight.push(...next);
      for (const { endpoint } of next) seen.add(endpoint);
      if (first !== undefined) lanes.completed(first);
    }

    expect(seen.size).to.equal(200);
    expect(lanes.queued).to.equal(0);
  });

  it('many names of one machine count together once they are connected to it; each endpoint has its first post all the same', () => {
    const lanes = openLanes({});
    for (let n = 0; n < 60; n++) lanes.connected(`whk_${n}.example`, '203.0.113.7');
    for (let n = 0; n < 60; n++) filled(lanes, `whk_${n}`, 8);
    const most = drain(lanes).length;

    lanes.connected('whk_late.example', '203.0.113.7');
    filled(lanes, 'whk_late', 8);
    filled(lanes, 'whk_elsewhere', 8);

    expect(most).to.be.within(60, IN_FLIGHT_MAX / 4);
    const after = drain(lanes).map(({ endpoint }) => endpoint);
    expect(after.filter((endpoint) => endpoint === 'whk_late')).to.have.length(1);
    expect(after.filter((endpoint) => endpoint === 'whk_elsewhere')).to.have.length(8);
  });

  it('what is in flight to a host counts where it is connected to, also when that is learned late', () => {
    const lanes = openLanes({});
    const inFlight: DeliveryDocument[] = [];
    for (let n = 0; n < 30; n++) filled(lanes, `whk_${n}`, 4);
    inFlight.push(...drain(lanes));
    expect(inFlight).to.have.length(120);
    for (let n = 0; n < 30; n++) lanes.connected(`whk_${n}.example`, `2001:db8:1:2::${n.toString(16)}`);

    filled(lanes, 'whk_0', 4);
    expect(drain(lanes)).to.deep.equal([]);

    for (const delivery of inFlight) lanes.posted(delivery);
    expect(lanes.inFlight).to.equal(0);
    expect(drain(lanes)).to.have.length(4);
  });

  it('endpoints whose posts take long hold no more than their part', () => {
    const lanes = openLanes({});
    for (let n = 0; n < 400; n++) filled(lanes, `whk_slow${n}`, 8);
    const hanging = drain(lanes);
    expect(hanging.length).to.be.above(SLOW_MAX);
    nowMs += SLOW_MS + 1;
    lanes.review();
    for (const delivery of hanging) lanes.posted(delivery);
    for (const delivery of hanging) lanes.completed(delivery);

    expect(drain(lanes)).to.have.length(SLOW_MAX);
    filled(lanes, 'whk_well', 8);
    expect(drain(lanes).map(({ endpoint }) => endpoint)).to.deep.equal(Array.from({ length: 8 }, () => 'whk_well'));
  });

  it('what was let go while it was held comes back with what is added later', () => {
    const lanes = openLanes({});
    for (let n = 0; n < 200; n++) filled(lanes, `whk_${n}`, 2, 'acc_one');
    const inFlight = drain(lanes);
    lanes.letGo(() => true);
    lanes.review();
    for (const delivery of inFlight) lanes.posted(delivery);

    const [{ endpoint } = { endpoint: 'whk_none' as const }] = inFlight;
    filled(lanes, endpoint, 2, 'acc_one');

    expect(drain(lanes)).to.have.length(2);
  });

  it('never has more posts in flight than a process may', () => {
    const lanes = openLanes({ perEndpoint: 8 });
    for (let n = 0; n < 2 * IN_FLIGHT_MAX; n++) filled(lanes, `whk_${n}`, 2);

    expect(drain(lanes)).to.have.length(IN_FLIGHT_MAX);
  });

  it('a delivery is taken once, until its completion is written and no older read is under way', () => {
    const lanes = openLanes({ perEndpoint: 2 });
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
    const lanes = openLanes({ perEndpoint: 1 });
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

  it('asks for no more while nothing has left', () => {
    const lanes = openLanes({ perEndpoint: 1 });
    filled(lanes, 'whk_a', 3);
    expect(lanes.wanted('whk_a')).to.equal(0);

    lanes.next();

    expect(lanes.wanted('whk_a')).to.equal(32 + 1);
    expect(lanes.wanted('whk_a')).to.equal(0);
  });

  it('lets go of what is queued for an endpoint; what is in flight stays in hand', () => {
    const lanes = openLanes({ perEndpoint: 2 });
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
    const lanes = openLanes({ perEndpoint: 2 });
    filled(lanes, 'whk_a', 1);
    filled(lanes, 'whk_b', 1);
    for (const delivery of drain(lanes)) {
      lanes.posted(delivery);
      lanes.completed(delivery);
    }

    expect([...lanes.endpoints()]).to.deep.equal([]);
  });
});
