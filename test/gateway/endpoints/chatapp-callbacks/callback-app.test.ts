import type { InboxItemDocument } from '../../../../shared/messages/chat-inbox-item.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { callbackPost, statusOf, textMessage } from '../../../support/chat-callback.ts';
import { makeProvider } from '../../../support/chatapp.ts';
import { openGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { callbackWorld, postSigned } from './callback-world.ts';

/** Meta posts what is for any number of an app to the app's one address ("Webhook overrides" of its documentation). */
describe('/chatapp/callback/{callback}: several accounts at one app', () => {
  const world = callbackWorld();
  const { gateway, post } = world;
  let made = 0;

  /** An account with a number and a business account that no other one has. */
  async function neighbour(appSecret = 'app-secret') {
    made++;
    const [phoneNumberId, businessId] = [`10654035224290${made}`, `10229012934030${made}`];
    const account = await makeAccount(gateway.db, 0);
    await makeProvider(gateway.db, account, { phoneNumberId, businessId, appSecret });
    return { account, phoneNumberId, businessId };
  }

  const idsOf = async (account: AccountId) => {
    const items = await gateway.db.collection<InboxItemDocument>('chat_inbox').find({ account }).toArray();
    return items.map(({ _id }) => _id.slice(account.length + 1)).sort();
  };

  it('hands each change of a post to the account that has the number, with its session open', async () => {
    const other = await neighbour();
    const own = callbackPost({ messages: [textMessage('wamid.own')] }) as { entry: object[] };
    const theirs = callbackPost(
      { messages: [textMessage('wamid.A', '919812345678')], statuses: [statusOf('wamid.B', 'read')] },
      other.phoneNumberId,
    ) as { entry: object[] };

    const answer = await post({ ...own, entry: [...theirs.entry, ...own.entry] });

    expect(answer.status).to.equal(200);
    expect(await idsOf(other.account)).to.deep.equal(['in:wamid.A', 'read:wamid.B']);
    expect(await idsOf(gateway.account)).to.deep.equal(['in:wamid.own']);
    const sessions = await gateway.db
      .collection('conversations')
      .find({ account: { $in: [other.account, gateway.account] } })
      .toArray();
    expect(sessions.map(({ account, customer }) => [account, customer])).to.have.deep.members([
      [other.account, '919812345678'],
      [gateway.account, '919876543210'],
    ]);
  });

  it('tells every account of a business account of a change of its templates', async () => {
    const first = await neighbour();
    const second = await makeAccount(gateway.db, 0);
    await makeProvider(gateway.db, second, { phoneNumberId: '77', businessId: first.businessId });
    const value = { event: 'PAUSED', message_template_name: 'cart', message_template_language: 'en_US' };
    const changes = [{ field: 'message_template_status_update', value }];

    await post({ entry: [{ id: first.businessId, time: 1_763_719_190, changes }] });

    for (const account of [first.account, second]) expect(await idsOf(account)).to.have.lengthOf(1);
    expect(await idsOf(gateway.account)).to.deep.equal([]);
  });

  it('writes nothing to an account whose app secret is another one', async () => {
    const other = await neighbour('their-app-secret');
    const value = { event: 'PAUSED', message_template_name: 'cart', message_template_language: 'en_US' };
    const entry = { id: other.businessId, changes: [{ field: 'message_template_status_update', value }] };

    const messages = await post(callbackPost({ messages: [textMessage('wamid.A')] }, other.phoneNumberId));
    const templates = await post({ entry: [entry] });

    expect([messages.status, templates.status]).to.deep.equal([200, 200]);
    expect(await idsOf(other.account)).to.deep.equal([]);
    expect(await gateway.db.collection('conversations').countDocuments({ account: other.account })).to.equal(0);
  });

  it('warns of what is for nobody, once a minute for each number, without the customer', async () => {
    const told: [string, object | undefined][] = [];
    const log = { ...silentLog, warn: (event: string, fields?: object) => void told.push([event, fields]) };
    const clock = new ManualClock(new Date());
    const watched = await openGateway(gateway.db, { log, clock });
    const send = (phoneNumberId: string) => {
      const value = { messages: [textMessage('wamid.A')], statuses: [statusOf('wamid.B', 'read')] };
      return postSigned(watched.url + world.path, callbackPost(value, phoneNumberId));
    };

    for (const number of ['106540352240001', '106540352240001', '106540352240002']) await send(number);
    clock.turn(60_000);
    await send('106540352240001');
    await watched.close();

    expect(told).to.deep.equal(
      ['106540352240001', '106540352240002', '106540352240001'].map((number) => [
        'callback_for_nobody',
        { account: gateway.account, whose: `number_${number}`, entries: 2 },
      ]),
    );
  });
});
