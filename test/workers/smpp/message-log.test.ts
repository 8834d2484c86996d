import { expect } from 'chai';
import { readMessageLog } from '../../../shared/messages/settlement/log-store.ts';
import type { LogRecord } from '../../../shared/messages/settlement/message-log.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, QUICK, type World } from '../../support/smpp-world.ts';

describe('smpp worker: what it keeps of a carrier for timelines', () => {
  let world: World;
  before(async () => {
    world = await openWorld({ carrier: QUICK });
  });
  after(() => world.close());

  const logged = (id: MessageId, count: number): Promise<readonly LogRecord[]> =>
    eventually(async () => {
      const records = await readMessageLog(world.db, id);
      if (records.length < count) throw new Error(JSON.stringify(records));
      return records;
    }, `${count} records of ${id}`);

  it('a refused submit: its answer; a failed delivery: its receipt as it came; a usual message: nothing', async () => {
    const usual = await world.send({ to: '919876500000', text: 'all is well' });
    const refused = await world.send({ to: '919876500108', text: 'refused' });
    const failed = await world.send({ to: '919876500101', text: 'a secret' });
    await world.reaches(usual, 'delivered');

    expect(await logged(refused, 1)).to.have.nested.property('[0].outcome', 'rejected');
    const [receipt] = await logged(failed, 1);
    expect(receipt).to.include({ kind: 'receipt', result: 'matched', carrier: 'sim' });
    expect(JSON.stringify(receipt))
      .to.match(/stat:UNDELIV/)
      .and.not.to.include('secret');
    expect(await readMessageLog(world.db, usual)).to.deep.equal([]);
  });

  it('an account that asks for everything gets it without a restart', async () => {
    await world.db.collection<AccountDocument>('accounts').updateMany({}, { $set: { log: 'all' } });

    const records = await eventually(async () => {
      const id = await world.send({ to: '919876500000', text: 'all is well' });
      await world.reaches(id, 'delivered');
      const found = await readMessageLog(world.db, id);
      return found.length === 2 ? found : undefined;
    }, 'a usual message is logged');

    expect(records?.map(({ kind }) => kind)).to.deep.equal(['answer', 'receipt']);
  });
});
