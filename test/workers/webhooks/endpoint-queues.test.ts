import { expect } from 'chai';
import type { AccountId, EndpointId } from '../../../shared/runtime/ids.ts';
import type { DeliveryDocument } from '../../../shared/webhooks/delivery.ts';
import { EndpointQueues, type EndpointQueuesOptions } from '../../../workers/webhooks/endpoint-queues.ts';
import { IN_FLIGHT_MAX, SLOW_MAX, SLOW_MS } from '../../../workers/webhooks/quota.ts';
import { makeDelivery } from '../../shared/webhooks/make.ts';

let nowMs = 0;

/** Every endpoint has a host of its own unless told otherwise. */
function openQueues(options: Partial<EndpointQueuesOptions>): EndpointQueues {
  return new EndpointQueues({
    perEndpoint: 8,
    isFailing: () => false,
    hostOf: (endpoint) => `${endpoint}.example`,
    nowMs: () => nowMs,
    ...options,
  });
}

/** Each endpoint has an account of its own unless one is given. */
function filled(
  queues: EndpointQueues,
  endpoint: EndpointId,
  count: number,
  account: AccountId = `acc_of_${endpoint}`,
): DeliveryDocument[] {
  return Array.from({ length: count }, () => {
    const delivery = makeDelivery({ endpoint, account });
    queues.add(delivery);
    return delivery;
  });
}

function drain(queues: EndpointQueues): DeliveryDocument[] {
  const all: DeliveryDocument[] = [];
  for (let next = queues.next(); next !== undefined; next = queues.next()) all.push(next);
  return all;
}

describe('webhooks worker: queues of the endpoints', () => {
  beforeEach(() => {
    nowMs = 0;
  });

  it('serves endpoints in rotation, whoever has the larger backlog', () => {
    const queues = openQueues({ perEndpoint: 3 });
    filled(queues, 'whk_big', 50);
    filled(queues, 'whk_small', 2);

    expect(drain(queues).map(({ endpoint }) => endpoint)).to.deep.equal([
      'whk_big',
      'whk_small',
      'whk_big',
      'whk_small',
      'whk_big',
    ]);
  });

  it('keeps the order of an endpoint’s deliveries', () => {
    const queues = openQueues({ perEndpoint: 8 });
    const added = filled(queues, 'whk_a', 8);

    expect(drain(queues)).to.deep.equal(added);
  });

  it('never has more posts in flight to one endpoint than it may; each that ends makes room for one', () => {
    const queues = openQueues({ perEndpoint: 2 });
    filled(queues, 'whk_a', 5);

    const [first] = drain(queues);
    expect(queues.inFlight).to.equal(2);
    if (first !== undefined) queues.posted(first);

    expect(drain(queues)).to.have.length(1);
    expect(queues.inFlight).to.equal(2);
  });

  it('an endpoint that fails has one post in flight', () => {
    const queues = openQueues({ perEndpoint: 8, isFailing: (endpoint) => endpoint === 'whk_dead' });
    filled(queues, 'whk_dead', 8);
    filled(queues, 'whk_well', 8);

    const endpoints = drain(queues).map(({ endpoint }) => endpoint);

    expect(endpoints.filter((endpoint) => endpoint === 'whk_dead')).to.have.length(1);
    expect(endpoints.filter((endpoint) => endpoint === 'whk_well')).to.have.length(8);
  });

  it('many slow endpoints leave slots for the others', () => {
    const queues = openQueues({ perEndpoint: 8 });
    for (let n = 0; n < 200; n++) filled(queues, `whk_slow${n}`, 8);

    const hanging = drain(queues);
    filled(queues, 'whk_well', 1);

    expect(hanging.length).to.be.below(IN_FLIGHT_MAX);
    expect(new Set(hanging.map(({ endpoint }) => endpoint))).to.have.property('size', 200);
    expect(queues.next()).to.include({ endpoint: 'whk_well' });
  });

  it('whatever one account is owed, and to however many endpoints, another’s goes at once', () => {
    const queues = openQueues({});
    for (let n = 0; n < 700; n++) filled(queues, `whk_greedy${n}`, 8, 'acc_greedy');

    const greedy = drain(queues);
    filled(queues, 'whk_well', 8);

    expect(greedy.length).to.be.within(80, IN_FLIGHT_MAX / 4);
    expect(drain(queues).map(({ endpoint }) => endpoint)).to.deep.equal(Array.from({ length: 8 }, () => 'whk_well'));
  });

  it('an account’s endpoints are served in rotation also when the account has all that it may', () => {
    const queues = openQueues({});
    for (let n = 0; n < 200; n++) filled(queues, `whk_${n}`, 2, 'acc_one');

    const inFlight = drain(queues);
    const seen = new Set(inFlight.map(({ endpoint }) => endpoint));
    for (let n = 0; n < 400; n++) {
      const [first] = inFlight;
      if (first !== undefined) queues.posted(first);
      inFlight.shift();
      const next = drain(queues);
      inFlight.push(...next);
      for (const { endpoint } of next) seen.add(endpoint);
      if (first !== undefined) queues.completed(first);
    }

    expect(seen.size).to.equal(200);
    expect(queues.queued).to.equal(0);
  });

  it('many names of one machine count together once they are connected to it; each endpoint has its first post all the same', () => {
    const queues = openQueues({});
    for (let n = 0; n < 60; n++) queues.connected(`whk_${n}.example`, '203.0.113.7');
    for (let n = 0; n < 60; n++) filled(queues, `whk_${n}`, 8);
    const most = drain(queues).length;

    queues.connected('whk_late.example', '203.0.113.7');
    filled(queues, 'whk_late', 8);
    filled(queues, 'whk_elsewhere', 8);

    expect(most).to.be.within(60, IN_FLIGHT_MAX / 4);
    const after = drain(queues).map(({ endpoint }) => endpoint);
    expect(after.filter((endpoint) => endpoint === 'whk_late')).to.have.length(1);
    expect(after.filter((endpoint) => endpoint === 'whk_elsewhere')).to.have.length(8);
  });

  it('what is in flight to a host counts where it is connected to, also when that is learned late', () => {
    const queues = openQueues({});
    const inFlight: DeliveryDocument[] = [];
    for (let n = 0; n < 30; n++) filled(queues, `whk_${n}`, 4);
    inFlight.push(...drain(queues));
    expect(inFlight).to.have.length(120);
    for (let n = 0; n < 30; n++) queues.connected(`whk_${n}.example`, `2001:db8:1:2::${n.toString(16)}`);

    filled(queues, 'whk_0', 4);
    expect(drain(queues)).to.deep.equal([]);

    for (const delivery of inFlight) queues.posted(delivery);
    expect(queues.inFlight).to.equal(0);
    expect(drain(queues)).to.have.length(4);
  });

  it('endpoints whose posts take long hold no more than their part', () => {
    const queues = openQueues({});
    for (let n = 0; n < 400; n++) filled(queues, `whk_slow${n}`, 8);
    const hanging = drain(queues);
    expect(hanging.length).to.be.above(SLOW_MAX);
    nowMs += SLOW_MS + 1;
    queues.review();
    for (const delivery of hanging) queues.posted(delivery);
    for (const delivery of hanging) queues.completed(delivery);

    expect(drain(queues)).to.have.length(SLOW_MAX);
    filled(queues, 'whk_well', 8);
    expect(drain(queues).map(({ endpoint }) => endpoint)).to.deep.equal(Array.from({ length: 8 }, () => 'whk_well'));
  });

  it('what was let go while it was held comes back with what is added later', () => {
    const queues = openQueues({});
    for (let n = 0; n < 200; n++) filled(queues, `whk_${n}`, 2, 'acc_one');
    const inFlight = drain(queues);
    queues.dropQueued(() => true);
    queues.review();
    for (const delivery of inFlight) queues.posted(delivery);

    const [{ endpoint } = { endpoint: 'whk_none' as const }] = inFlight;
    filled(queues, endpoint, 2, 'acc_one');

    expect(drain(queues)).to.have.length(2);
  });

  it('never has more posts in flight than a process may', () => {
    const queues = openQueues({ perEndpoint: 8 });
    for (let n = 0; n < 2 * IN_FLIGHT_MAX; n++) filled(queues, `whk_${n}`, 2);

    expect(drain(queues)).to.have.length(IN_FLIGHT_MAX);
  });

  it('a delivery is taken once, until its completion is written and no older read is under way', () => {
    const queues = openQueues({ perEndpoint: 2 });
    const delivery = makeDelivery({ endpoint: 'whk_a' });

    expect(queues.add(delivery)).to.equal(true);
    expect(queues.add(delivery)).to.equal(false);
    queues.next();
    expect(queues.add(delivery)).to.equal(false);
    queues.posted(delivery);
    expect(queues.add(delivery)).to.equal(false);
    expect(queues.inHand(() => true)).to.equal(1);
    queues.completed(delivery);
    expect(queues.inHand(() => true)).to.equal(0);
    expect(queues.add(delivery)).to.equal(false);
    queues.forgetCompleted();
    expect(queues.add(delivery)).to.equal(true);
  });

  it('a delivery whose completion is refused is taken no more, holds no place, and hides no others from a read', () => {
    const queues = openQueues({ perEndpoint: 1 });
    const delivery = makeDelivery({ endpoint: 'whk_a' });
    queues.add(delivery);
    queues.next();
    queues.posted(delivery);

    queues.refused(delivery);
    queues.forgetCompleted();

    expect(queues.inHand(() => true)).to.equal(0);
    expect([...queues.endpoints()]).to.deep.equal([]);
    expect(queues.add(delivery)).to.equal(false);
    expect(queues.wanted('whk_a')).to.equal(32 + 1);
  });

  it('a full queue takes no more, and asks for more when a quarter is left', () => {
    const queues = openQueues({ perEndpoint: 1 });
    expect(queues.wanted('whk_a')).to.equal(32);

    filled(queues, 'whk_a', 40);

    expect(queues.queued).to.equal(32);
    expect(queues.wanted('whk_a')).to.equal(0);
    for (let n = 0; n < 25; n++) {
      const delivery = queues.next();
      if (delivery !== undefined) queues.posted(delivery);
    }
    // Deliveries that are completing are still due in the store, so a read finds them again: it must ask for that many more.
    expect(queues.wanted('whk_a')).to.equal(32 + 25);
  });

  it('asks for no more while nothing has left', () => {
    const queues = openQueues({ perEndpoint: 1 });
    filled(queues, 'whk_a', 3);
    expect(queues.wanted('whk_a')).to.equal(0);

    queues.next();

    expect(queues.wanted('whk_a')).to.equal(32 + 1);
    expect(queues.wanted('whk_a')).to.equal(0);
  });

  it('lets go of what is queued for an endpoint; what is in flight stays in hand', () => {
    const queues = openQueues({ perEndpoint: 2 });
    const [first, second, third] = filled(queues, 'whk_a', 3);
    filled(queues, 'whk_b', 1);
    queues.next();

    queues.dropQueued((endpoint) => endpoint === 'whk_a');

    expect(queues.inHand((endpoint) => endpoint === 'whk_a')).to.equal(1);
    expect(drain(queues).map(({ endpoint }) => endpoint)).to.deep.equal(['whk_b']);
    if (first !== undefined) expect(queues.add(first)).to.equal(false);
    if (second !== undefined && third !== undefined) expect(queues.add(second) && queues.add(third)).to.equal(true);
    expect(drain(queues)).to.have.length(1);
  });

  it('forgets endpoints that have nothing in hand', () => {
    const queues = openQueues({ perEndpoint: 2 });
    filled(queues, 'whk_a', 1);
    filled(queues, 'whk_b', 1);
    for (const delivery of drain(queues)) {
      queues.posted(delivery);
      queues.completed(delivery);
    }

    expect([...queues.endpoints()]).to.deep.equal([]);
  });
});
