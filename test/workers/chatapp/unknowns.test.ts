import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { MessageLog } from '../../../shared/messages/settlement/message-log.ts';
import { Lease } from '../../../shared/platform/leases/lease.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { decideUnknownsOf, takePartition } from '../../../workers/chatapp/held-partition.ts';
import { createChatMetrics } from '../../../workers/chatapp/metrics.ts';
import { silentLog } from '../../support/silent-log.ts';
import { inboxWorld } from './inbox-world.ts';
import type { ChatAccount } from './world.ts';

const ago = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);

describe('chatapp worker: sends whose answer never came', () => {
  const { world, item, workedOff } = inboxWorld();

  const claimed = (minutes: number): Partial<ChatMessageDocument> => ({
    state: 'submitting',
    outcome: 'unknown',
    claim: { id: newId('clm'), carrier: 'chatapp:0', epoch: 0, at: ago(minutes) },
  });

  const open = (unknownPolicy: ProviderDocument['unknownPolicy']): Promise<ChatAccount> =>
    world.openAccount(undefined, { unknownPolicy, unknownWaitMs: 60_000 });

  /** A process that takes over and has not read the inbox. Returns how many sends each policy decided. */
  async function look({ number }: ChatAccount): Promise<readonly (readonly [string, number])[]> {
    const { db } = world.store;
    const lease = new Lease({ name: 'chatapp:0', db, clock, identity: { machine: 'b', pid: 1, startedAt: '1' } });
    await lease.keep();
    const partition = await takePartition({
      db,
      clock,
      log: silentLog,
      metrics: createChatMetrics(new Metrics()),
      announcer: createAnnouncer({ db, clock }),
      messageLog: new MessageLog({ db, clock, log: silentLog, days: 30 }),
      lease,
    });
    const provider = await db.collection<ProviderDocument>('providers').findOne({ _id: number });
    const { decided } = await decideUnknownsOf(db, clock, partition, () => provider ?? undefined);
    await lease.release();
    return [...decided];
  }

  for (const [policy, state] of [
    ['assume_sent', 'sent'],
    ['resend', 'queued'],
  ] as const) {
    it(`after the provider's waiting time an unknown send is ${state}, by its policy ${policy}`, async () => {
      const account = await open(policy);
      const [old, young] = await world.queue(account, claimed(2), claimed(0));

      expect(await look(account)).to.deep.equal([[policy, 1]]);

      expect((await world.read(old?._id ?? 'msg_')).state).to.equal(state);
      expect((await world.read(young?._id ?? 'msg_')).state).to.equal('submitting');
    });
  }

  it('a message whose delivery lies behind a thousand other statuses is not sent again', async () => {
    const account = await open('resend');
    const [message] = await world.queue(account, claimed(2));
    // More statuses than a round reads, of a message that is no longer known here.
    await world.post(Array.from({ length: 1_000 }, (_, n) => item(account, { upstreamId: `wamid.f${n}` }, ago(9))));
    await world.post([item(account, { upstreamId: 'wamid.1', ours: message?._id ?? '' }, ago(1))]);
    await world.startWorker();

    await workedOff();

    expect((await world.read(message?._id ?? 'msg_')).state).to.equal('delivered');
    expect(account.provider.sends).to.have.length(0);
  });

  it('one whose validity is over is decided though the inbox is never read: it does not go out again', async () => {
    const account = await open('resend');
    const [over, valid] = await world.queue(account, { ...claimed(2), validUntil: ago(1) }, claimed(2));
    await world.post([item(account, {}, ago(1))]);

    expect(await look(account)).to.deep.equal([['resend', 1]]);

    expect((await world.read(over?._id ?? 'msg_')).state).to.equal('queued');
    expect((await world.read(valid?._id ?? 'msg_')).state).to.equal('submitting');
  });
});
