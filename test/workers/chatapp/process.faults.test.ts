import type { ChildProcess } from 'node:child_process';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { setAccountStatus } from '../../../shared/money/accounts/store.ts';
import { eventually } from '../../support/eventually.ts';
import { ended, WorkerProcesses } from '../../support/worker-processes.ts';
import { makeItem, makeStatus } from './make.ts';
import { type ChatAccount, chatWorld, customers } from './world.ts';

/** The key of `TEST_BOX`. */
const KEY = Buffer.alloc(32, 7).toString('hex');
const WINDOW = 5;
const EACH = 120;

describe('chatapp worker: process', () => {
  const world = chatWorld();
  const workers = new WorkerProcesses('chatapp');

  afterEach(async () => {
    await workers.killAll();
  });

  const startProcess = (): Promise<ChildProcess> => workers.start(world.store, { HARKARA_SECRET_KEY: KEY });

  /** Four accounts with `EACH` messages each; their providers accept a message after 5 to 25 ms. */
  async function accounts(): Promise<ChatAccount[]> {
    const opened = await Promise.all(
      [1, 2, 3, 4].map(() =>
        world.openAccount((_, __, accept) => setTimeout(accept, 5 + Math.random() * 20), {
          perSecond: 200,
          windowSize: WINDOW,
        }),
      ),
    );
    for (const account of opened) await world.queue(account, ...customers(EACH).map((to) => ({ to })));
    return opened;
  }

  const sends = (opened: readonly ChatAccount[]): number =>
    opened.reduce((sum, { provider }) => sum + provider.sends.length, 0);
  const stored = (): Promise<ChatMessageDocument[]> => world.messages.find({}).toArray();

  /**
   * Every message left at most once and is either `sent`, and reached the provider, or unknown. For each kill, at most
   * one window of each account may be unknown.
   */
  async function audit(opened: readonly ChatAccount[], kills: number): Promise<void> {
    const messages = await stored();
    const unknown = messages.filter(({ outcome }) => outcome === 'unknown');
    const arrived = opened.flatMap(({ provider }) => provider.sends.map(({ ours }) => ours));
    expect(arrived).to.have.length(new Set(arrived).size);
    expect(unknown.length).to.be.at.most(kills * WINDOW * opened.length);
    expect(messages.filter(({ state }) => state === 'sent')).to.have.length(messages.length - unknown.length);
    for (const { _id } of messages.filter(({ state }) => state === 'sent')) expect(arrived).to.include(_id);
  }

  it('kill -9 in the middle, again and again: nothing is sent twice, what was cut off is unknown', async () => {
    const opened = await accounts();

    for (const share of [0.2, 0.4, 0.6]) {
      const child = await startProcess();
      await eventually(() => sends(opened) > opened.length * EACH * share, 'sending');
      child.kill('SIGKILL');
      await ended(child);
    }
    const last = await startProcess();
    await allSentOrUnknown();

    await audit(opened, 3);

    // Unknown messages that did arrive are settled by their status, which names our id.
    const unknown = (await stored()).filter(({ outcome }) => outcome === 'unknown');
    const reached = new Set(opened.flatMap(({ provider }) => provider.sends.map(({ ours }) => ours)));
    const told = unknown.filter(({ _id }) => reached.has(_id));
    await world.post(
      told.map(({ _id, account }) =>
        makeItem(account, makeStatus({ upstreamId: `late.${_id}`, ours: _id, status: 'sent' })),
      ),
    );
    await eventually(
      async () =>
        (await stored()).filter(({ outcome }) => outcome === 'unknown').length === unknown.length - told.length,
      'they are known',
    );

    last.kill('SIGINT');
    await ended(last);
    expect(last.exitCode).to.equal(0);
    expect(await world.store.db.collection('leases').countDocuments({ until: { $gt: new Date(1) } })).to.equal(0);
  });

  /** Two processes that share the accounts, while both are sending. */
  async function twoInTheMiddle(): Promise<{ readonly opened: readonly ChatAccount[]; readonly first: ChildProcess }> {
    const opened = await accounts();
    for (const { id } of opened) await setAccountStatus(world.store.db, id, 'suspended');
    const first = await startProcess();
    await startProcess();
    await bothHavePartitions();
    for (const { id } of opened) await setAccountStatus(world.store.db, id, 'active');
    await eventually(() => sends(opened) > opened.length * EACH * 0.3, 'sending');
    return { opened, first };
  }

  function bothHavePartitions(): Promise<unknown> {
    const leases = world.store.db.collection('leases');
    return eventually(
      async () =>
        new Set((await leases.find({ until: { $gt: new Date() } }).toArray()).map(({ owner }) => owner)).size === 2,
      'both have partitions',
      60_000,
    );
  }

  const allSentOrUnknown = () =>
    eventually(
      async () => (await stored()).every(({ state, outcome }) => state === 'sent' || outcome === 'unknown'),
      'all are sent or unknown',
      60_000,
    );

  it('two processes share the accounts; one is killed, the other takes its share over', async () => {
    const { opened, first } = await twoInTheMiddle();

    first.kill('SIGKILL');

    await allSentOrUnknown();
    await audit(opened, 1);
  });

  it('a process that slept past its leases sends and settles nothing of what was taken over', async () => {
    const { opened, first } = await twoInTheMiddle();

    first.kill('SIGSTOP');
    await allSentOrUnknown();
    const unknown = (await stored()).filter(({ outcome }) => outcome === 'unknown').map(({ _id }) => _id);
    first.kill('SIGCONT');
    await bothHavePartitions();
    for (const account of opened) await world.queue(account, { to: '918888888888' });
    await eventually(async () => (await stored()).every(({ state }) => state !== 'queued'), 'the last leave');
    await allSentOrUnknown();

    await audit(opened, 1);
    const still = (await stored()).filter(({ outcome }) => outcome === 'unknown').map(({ _id }) => _id);
    expect(still).to.include.members(unknown);
  });
});
