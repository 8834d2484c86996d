import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { type LogRecord, readMessageLog } from '../../../shared/messages/settlement/message-log.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { makeEndpoint } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, QUICK } from '../../support/smpp-world.ts';
import { use } from '../../support/use.ts';

describe('smpp worker: what it keeps of a carrier for timelines', () => {
  const world = use(() => openWorld({ carrier: QUICK }));

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

  it('a webhook with `raw`: the state keeps the receipt that brought it, from within seconds', async () => {
    const id = await world.send({ to: '919876500000', text: 'all is well' });
    await world.reaches(id, 'delivered');
    const historyOf = async (message: MessageId) =>
      (await world.db.collection<MessageDocument>('messages').findOne({ _id: message }))?.history;
    expect((await historyOf(id))?.filter(({ raw }) => raw !== undefined)).to.deep.equal([]);
    const account = (await world.db.collection<MessageDocument>('messages').findOne({ _id: id }))?.account;
    await world.db
      .collection<EndpointDocument>('endpoints')
      .insertOne(makeEndpoint({ ...(account && { account }), raw: true, events: [] }));

    const kept = await eventually(async () => {
      const message = await world.send({ to: '919876500000', text: 'a secret' });
      await world.reaches(message, 'delivered');
      return (await historyOf(message))?.find(({ raw }) => raw !== undefined);
    }, 'a receipt is kept');

    expect(kept).to.have.property('state', 'delivered');
    expect(kept?.raw?.text)
      .to.match(/stat:DELIVRD/)
      .and.not.to.include('secret');
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
