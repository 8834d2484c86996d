import { expect } from 'chai';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { Metrics } from '../../../shared/runtime/metrics.ts';
import { QueueGauges } from '../../../workers/maintenance/queue-gauges.ts';
import { makeAccount, makeDraft, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('what waits, as metrics', () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  it('has a gauge for each path and lane, and none for what has left or is the business of another process', async () => {
    const metrics = new Metrics();
    const clock = new ManualClock(new Date());
    const messages = store.db.collection<MessageDocument>('messages');
    const [one, two] = [await makeAccount(store.db, 0), await makeAccount(store.db, 0)];
    const waiting = (account: typeof one, seconds: number, lane: number, path: string) =>
      makeMessage({
        ...makeDraft({ lane, path }),
        account,
        _id: newId('msg', clock.now().getTime() - seconds * 1_000),
      });
    await messages.insertMany([
      waiting(one, 400, 1, 'transactional'),
      waiting(two, 700, 1, 'transactional'),
      waiting(one, 100, 0, '@30:airtel>jio'),
    ]);
    const gauges = new QueueGauges(store.db, clock, metrics);
    let held = true;
    const told = async (): Promise<readonly string[]> => {
      await gauges.look(() => held);
      const text = await metrics.registry.metrics();
      return text.split('\n').filter((line) => line.startsWith('harkara_queue_'));
    };

    expect(await told()).to.have.members([
      'harkara_queue_messages{path="@30:airtel>jio",lane="otp"} 1',
      'harkara_queue_messages{path="transactional",lane="transactional"} 2',
      'harkara_queue_oldest_seconds{path="@30:airtel>jio",lane="otp"} 100',
      'harkara_queue_oldest_seconds{path="transactional",lane="transactional"} 700',
    ]);

    await messages.updateMany({ path: 'transactional' }, { $set: { state: 'sent' } });
    clock.turn(60_000);
    expect(await told()).to.have.members([
      'harkara_queue_messages{path="@30:airtel>jio",lane="otp"} 1',
      'harkara_queue_oldest_seconds{path="@30:airtel>jio",lane="otp"} 160',
    ]);

    held = false;
    expect(await told()).to.deep.equal([]);
  });
});
