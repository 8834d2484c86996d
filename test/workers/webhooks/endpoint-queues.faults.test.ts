import type { EndpointId } from '../../../shared/platform/runtime/ids.ts';
import { HOSTS_PER_ACCOUNT, IN_FLIGHT_MAX } from '../../../workers/webhooks/endpoint-queues.ts';
import { makeGroup } from '../../shared/events/webhooks/make.ts';
import { drain, end, endpointsOf, filled, openQueues } from './queues.ts';

const times = (count: number, endpoint: EndpointId) => Array.from({ length: count }, () => endpoint);

describe('webhooks worker: whose post is next', () => {
  it('serves endpoints in turn, whoever has the larger backlog', () => {
    const queues = openQueues({ perHost: 3 });
    filled(queues, 'whk_big', 50);
    filled(queues, 'whk_small', 2);

    expect(endpointsOf(drain(queues))).to.deep.equal(['whk_big', 'whk_small', 'whk_big', 'whk_small', 'whk_big']);
  });

  it('serves accounts in turn, whoever has more endpoints', () => {
    const queues = openQueues({ perHost: 1 });
    for (let n = 0; n < 3; n++) filled(queues, `whk_many${n}`, 1, 'acc_many');
    for (let n = 0; n < 2; n++) filled(queues, `whk_few${n}`, 1, 'acc_few');

    expect(drain(queues).map(({ account }) => account)).to.deep.equal([
      ...['acc_many', 'acc_few', 'acc_many', 'acc_few', 'acc_many'],
    ]);
  });

  it('keeps the order of an endpoint’s events, also from one group to the next', () => {
    const queues = openQueues();
    const groups = [makeGroup({ endpoint: 'whk_a' }, 3), makeGroup({ endpoint: 'whk_a' }, 2)];
    for (const group of groups) queues.add(group);

    expect(drain(queues).map(({ parts }) => parts[0].delivery.eventId)).to.deep.equal(
      groups.flatMap(({ items }) => items.map(({ eventId }) => eventId)),
    );
  });

  it('never has more posts in flight to one host than it may; each that ends makes room for one', () => {
    const queues = openQueues({ perHost: 2, hostOf: () => 'one.example' });
    filled(queues, 'whk_a', 5, 'acc_one');
    filled(queues, 'whk_b', 5, 'acc_one');

    const [first] = drain(queues);
    expect(queues.inFlight).to.equal(2);
    if (first !== undefined) queues.posted(first);

    expect(drain(queues)).to.have.length(1);
    expect(queues.inFlight).to.equal(2);
  });

  it('an endpoint that fails has one post in flight', () => {
    const queues = openQueues({ isFailing: (endpoint) => endpoint === 'whk_dead' });
    queues.add(makeGroup({ endpoint: 'whk_dead', account: 'acc_dead' }, 8));
    filled(queues, 'whk_well', 8);

    const endpoints = endpointsOf(drain(queues));

    expect(endpoints.filter((endpoint) => endpoint === 'whk_dead')).to.have.length(1);
    expect(endpoints.filter((endpoint) => endpoint === 'whk_well')).to.have.length(8);
  });

  it('whatever is due to one account, and to however many endpoints, another’s goes at once', () => {
    const queues = openQueues();
    for (let n = 0; n < 700; n++) filled(queues, `whk_greedy${n}`, 8, 'acc_greedy');

    const greedy = drain(queues);
    filled(queues, 'whk_well', 8);

    expect(greedy).to.have.length(8 * HOSTS_PER_ACCOUNT);
    expect(endpointsOf(drain(queues))).to.deep.equal(times(8, 'whk_well'));
  });

  it('a slow endpoint leaves room to the others of its account', () => {
    const queues = openQueues();
    filled(queues, 'whk_slow', 100, 'acc_one');
    drain(queues);

    filled(queues, 'whk_well', 8, 'acc_one');

    expect(endpointsOf(drain(queues))).to.deep.equal(times(8, 'whk_well'));
  });

  it('an account’s endpoints are served in turn also when the account has all that it may', () => {
    const queues = openQueues();
    for (let n = 0; n < 200; n++) filled(queues, `whk_${n}`, 2, 'acc_one');

    const inFlight = drain(queues);
    const seen = new Set(endpointsOf(inFlight));
    for (let n = 0; n < 400; n++) {
      const first = inFlight.shift();
      if (first !== undefined) end(queues, first);
      const next = drain(queues);
      inFlight.push(...next);
      for (const endpoint of endpointsOf(next)) seen.add(endpoint);
    }

    expect(seen.size).to.equal(200);
    expect(queues.queued).to.equal(0);
  });

  it('at a host that many accounts name, each has its first post, and elsewhere all that it may', () => {
    const queues = openQueues({ hostOf: (endpoint) => (endpoint === 'whk_elsewhere' ? 'b.example' : 'a.example') });
    for (let n = 0; n < 60; n++) filled(queues, `whk_${n}`, 8);
    expect(drain(queues)).to.have.length(60);

    filled(queues, 'whk_late', 8, 'acc_late');
    filled(queues, 'whk_elsewhere', 8, 'acc_late');

    const after = endpointsOf(drain(queues));
    expect(after.filter((endpoint) => endpoint === 'whk_late')).to.have.length(1);
    expect(after.filter((endpoint) => endpoint === 'whk_elsewhere')).to.have.length(8);
  });

  it('has no more posts in flight than a process may, but for one of each account', () => {
    const queues = openQueues();
    const accounts = IN_FLIGHT_MAX / 8;
    for (let n = 0; n < 2 * accounts; n++) filled(queues, `whk_${n}`, 16);
    expect(drain(queues)).to.have.length(IN_FLIGHT_MAX);

    filled(queues, 'whk_late', 8);

    expect(endpointsOf(drain(queues))).to.deep.equal(['whk_late']);
  });
});
