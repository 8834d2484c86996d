import { claimLines, insertFirst } from '../../../shared/messages/queue/queue-store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { QueueGauges } from '../../../workers/maintenance/watch.ts';
import { makeAccount, makeDraft, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ownDocuments } from '../../support/queue.ts';
import { useStore } from '../../support/store.ts';

describe('what waits, as metrics', () => {
  const store = useStore();

  it('has a gauge for each path and lane, and none for what has left or is the business of another process', async () => {
    const metrics = new Metrics();
    const clock = new ManualClock(new Date());
    const [one, two] = [await makeAccount(store.db, 0), await makeAccount(store.db, 0)];
    const waiting = (account: typeof one, seconds: number, lane: number, path: string) =>
      makeMessage({
        ...makeDraft({ lane, path }),
        account,
        _id: newId('msg', clock.now().getTime() - seconds * 1_000),
      });
    const documents = ownDocuments(
      newId('grp'),
      [
        waiting(one, 300, 1, 'transactional'),
        waiting(one, 400, 1, 'transactional'),
        waiting(two, 700, 1, 'transactional'),
        waiting(one, 100, 0, '@30:airtel>jio'),
      ],
      clock.now(),
    );
    await insertFirst(store.db, documents);
    const claim = async (path: string, account: typeof one, to: number) => {
      const stamp = { id: newId('clm'), carrier: 'airtel', epoch: 1, at: clock.now() };
      const found = documents.find((head) => head.path === path && head.account === account);
      if (found === undefined) throw new Error('it was inserted');
      expect((await claimLines(store.db, stamp, [{ head: found, to }])).size).to.equal(1);
    };
    const gauges = new QueueGauges(store.db, clock, metrics);
    const told = async (): Promise<readonly string[]> => {
      const text = await metrics.registry.metrics();
      return text.split('\n').filter((line) => line.startsWith('harkara_queue_'));
    };

    await gauges.look();
    expect(await told()).to.have.members([
      'harkara_queue_messages{path="@30:airtel>jio",lane="otp"} 1',
      'harkara_queue_messages{path="transactional",lane="transactional"} 3',
      'harkara_queue_oldest_seconds{path="@30:airtel>jio",lane="otp"} 100',
      'harkara_queue_oldest_seconds{path="transactional",lane="transactional"} 700',
    ]);

    await claim('transactional', two, 1);
    await claim('transactional', one, 1);
    clock.turn(60_000);
    await gauges.look();
    expect(await told()).to.have.members([
      'harkara_queue_messages{path="@30:airtel>jio",lane="otp"} 1',
      'harkara_queue_messages{path="transactional",lane="transactional"} 1',
      'harkara_queue_oldest_seconds{path="transactional",lane="transactional"} 460',
      'harkara_queue_oldest_seconds{path="@30:airtel>jio",lane="otp"} 160',
    ]);

    gauges.leave();
    expect(await told()).to.deep.equal([]);
  });
});
