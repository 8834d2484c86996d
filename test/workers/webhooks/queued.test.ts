import { OPEN_MAX } from '../../../workers/webhooks/endpoint-queues.ts';
import { makeDelivery, makeGroup } from '../../shared/events/webhooks/make.ts';
import { drain, end, endpointsOf, filled, openQueues } from './queues.ts';

describe('webhooks worker: what the queues hold', () => {
  it('no more of an endpoint’s events are begun and not completed than a crash may repeat', () => {
    const queues = openQueues({ perHost: 1_000 });
    const size = OPEN_MAX / 2;
    for (let n = 0; n < 3; n++) queues.add(makeGroup({ endpoint: 'whk_a' }, size));

    const posts = drain(queues);
    expect(posts).to.have.length(2 * size);
    const ended = posts.slice(0, size).filter((post) => queues.posted(post).length > 0);
    expect(ended).to.have.length(1);
    expect(drain(queues)).to.deep.equal([]);
    for (const { parts } of ended) queues.completed(parts[0].of);
    expect(drain(queues)).to.have.length(size);
  });

  it('a group is larger than any limit may be: alone it is begun', () => {
    const queues = openQueues({ perHost: 2 });
    queues.add(makeGroup({ endpoint: 'whk_a' }, OPEN_MAX + 1));

    expect(drain(queues)).to.have.length(2);
  });

  it('a document is taken once, until its completion is written and no older read is under way', () => {
    const queues = openQueues();
    const delivery = makeDelivery({ endpoint: 'whk_a' });

    expect(queues.add(delivery)).to.equal(true);
    expect(queues.add(delivery)).to.equal(false);
    const [post] = drain(queues);
    expect(queues.add(delivery)).to.equal(false);
    if (post !== undefined) expect(queues.posted(post)).to.deep.equal([post.parts[0].of]);
    expect(queues.add(delivery)).to.equal(false);
    expect(queues.inHand(() => true)).to.equal(1);
    if (post !== undefined) queues.completed(post.parts[0].of);
    expect(queues.inHand(() => true)).to.equal(0);
    expect(queues.add(delivery)).to.equal(false);
    queues.forgetCompleted();
    expect(queues.add(delivery)).to.equal(true);
  });

  it('names the large groups in hand, until their completion is written', () => {
    const queues = openQueues({ perHost: 100 });
    const group = makeGroup({ endpoint: 'whk_a' }, 50);
    queues.add(group);
    queues.add(makeGroup({ endpoint: 'whk_a' }, 2));
    filled(queues, 'whk_a', 3);
    expect(queues.groups()).to.deep.equal([group._id]);

    for (const post of drain(queues)) end(queues, post);
    queues.forgetCompleted();

    expect(queues.groups()).to.deep.equal([]);
  });

  it('a document whose completion is refused is taken no more, holds no place, and hides no others from a read', () => {
    const queues = openQueues({ perHost: 1 });
    const delivery = makeDelivery({ endpoint: 'whk_a' });
    queues.add(delivery);
    const [post] = drain(queues);
    if (post !== undefined) queues.posted(post);

    if (post !== undefined) queues.refused(post.parts[0].of);
    queues.forgetCompleted();

    expect(queues.inHand(() => true)).to.equal(0);
    expect([...queues.endpoints()]).to.deep.equal([]);
    expect(queues.add(delivery)).to.equal(false);
    expect(queues.wanted('whk_a')).to.equal(32 + 1);
  });

  it('a full queue takes no more, and asks for more when a quarter is left', () => {
    const queues = openQueues({ perHost: 1 });
    expect(queues.wanted('whk_a')).to.equal(32);

    filled(queues, 'whk_a', 40);

    expect(queues.queued).to.equal(32);
    expect(queues.wanted('whk_a')).to.equal(0);
    for (let n = 0; n < 25; n++) {
      const post = queues.next();
      if (post !== undefined) queues.posted(post);
    }
    // Deliveries being completed are still due in the store, so a read must ask for that many more.
    expect(queues.wanted('whk_a')).to.equal(32 + 32);
  });

  it('counts events, and asks for as few documents as have them', () => {
    const queues = openQueues({ perHost: 10 });
    for (let n = 0; n < 9; n++) queues.add(makeGroup({ endpoint: 'whk_a' }, 40));
    expect(queues.queued).to.equal(320);

    const first = drain(queues);
    for (let posts = first; queues.queued >= 80; posts = drain(queues)) for (const post of posts) end(queues, post);

    expect(queues.wanted('whk_a')).to.equal(320 / 40 + queues.inHand(() => true));
  });

  it('asks for no more while nothing has left', () => {
    const queues = openQueues({ perHost: 1 });
    filled(queues, 'whk_a', 3);
    expect(queues.wanted('whk_a')).to.equal(0);

    queues.next();

    expect(queues.wanted('whk_a')).to.equal(32 + 3);
    expect(queues.wanted('whk_a')).to.equal(0);
  });

  it('lets go of what is queued for an endpoint; what is in flight stays in hand', () => {
    const queues = openQueues();
    const [first, second, third] = filled(queues, 'whk_a', 3);
    queues.next();
    filled(queues, 'whk_b', 1);

    expect(queues.dropQueued((endpoint) => endpoint === 'whk_a')).to.deep.equal([]);

    expect(queues.inHand((endpoint) => endpoint === 'whk_a')).to.equal(1);
    expect(endpointsOf(drain(queues))).to.deep.equal(['whk_b']);
    if (first !== undefined) expect(queues.add(first)).to.equal(false);
    for (const one of [second, third]) if (one !== undefined) expect(queues.add(one)).to.equal(true);
    expect(drain(queues)).to.have.length(2);
  });

  it('lets go of the rest of a group that was begun: it ends with the posts in flight', () => {
    const queues = openQueues({ perHost: 2 });
    queues.add(makeGroup({ endpoint: 'whk_a' }, 5));
    const posts = drain(queues);

    expect(queues.dropQueued(() => true)).to.deep.equal([]);

    expect(drain(queues)).to.deep.equal([]);
    expect(posts.map((post) => queues.posted(post).length)).to.deep.equal([0, 1]);
    expect(queues.queued).to.equal(0);
  });

  it('returns a group that was begun and has no post in flight', () => {
    const queues = openQueues({ perHost: 1 });
    queues.add(makeGroup({ endpoint: 'whk_a' }, 2));
    const [post] = drain(queues);
    if (post !== undefined) expect(queues.posted(post)).to.deep.equal([]);

    expect(queues.dropQueued(() => true)).to.deep.equal([post?.parts[0].of]);
  });

  it('forgets endpoints that have nothing in hand', () => {
    const queues = openQueues();
    filled(queues, 'whk_a', 1);
    filled(queues, 'whk_b', 1);
    for (const post of drain(queues)) end(queues, post);

    expect([...queues.endpoints()]).to.deep.equal([]);
  });
});
