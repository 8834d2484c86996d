import { expect } from 'chai';
import { wishesOf } from '../../../shared/events/notices.ts';
import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import { createEndpoint, disableEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import type { KeyDocument } from '../../../shared/people/keys/key.ts';
import { createKey, findOwnKey } from '../../../shared/people/keys/store.ts';
import { MAILS_PER_HOUR, type MailDocument } from '../../../shared/people/mails/mail.ts';
import { inviteUser } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { announceActs } from '../../../workers/maintenance/announce-acts.ts';
import { mayTell } from '../../../workers/maintenance/tell.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { makeAccount } from '../../support/make.ts';
import { signedIn } from '../../support/signed-in.ts';
import { useStore } from '../../support/store.ts';
import { tellDeps } from '../../support/tell-deps.ts';

describe('what happens to an account is told', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(async () => {
    for (const name of ['mails', 'users']) await store.db.collection(name).deleteMany({});
    account = await makeAccount(store.db, 0, { name: 'Shop' });
  });
  const announce = () => announceActs(tellDeps(store.db));
  const user = async (role: UserDocument['role'], more: Partial<UserDocument> = {}): Promise<UserDocument> =>
    (await signedIn(store.db, role, role.startsWith('operator') ? undefined : account, { user: more })).user;
  const key = (name = 'server') => createKey(store.db, systemClock, { account, name, scopes: ['send'] });
  const mails = () => store.db.collection<MailDocument>('mails').find().toArray();
  const told = async () => (await mails()).map(({ kind, to }) => `${kind} ${to}`).sort();

  it('to webhooks of the account, once, with the members that the catalogue says', async () => {
    const endpoint = { account, channel: 'account', url: 'https://shop.test/', events: ['key.created'] } as const;
    await createEndpoint(store.db, systemClock, TEST_BOX, endpoint);
    const { id } = await key();
    const made = await findOwnKey(store.db, account, id);

    expect(await announce()).to.equal(1);
    // A process that died before it took the act out does it all again.
    await store.db
      .collection<KeyDocument>('keys')
      .updateOne({ _id: id }, { $set: { unannounced: made?.unannounced ?? [] } });
    expect(await announce()).to.equal(1);
    expect(await announce()).to.equal(0);

    const deliveries = await store.db.collection<DeliveryDocument>('deliveries').find({ account }).toArray();
    expect(deliveries.map(({ body }) => Object.keys(JSON.parse(body)))).to.deep.equal([
      ['event', 'key_id', 'name', 'scopes', 'created_by', 'timestamp', 'channel'],
    ]);
    expect(deliveries[0]?._id).to.match(/^evt_[0-9a-z]{26}_key_created:whk_/);
  });

  it('by mail to those whose role it concerns, as each has chosen', async () => {
    const owner = await user('owner');
    const elsewhere = await user('owner', { username: 'asha', email: 'asha@shop.test' });
    await user('owner', { username: 'nobody' });
    await user('owner', { notices: wishesOf('owner', []) });
    await user('developer');
    const curious = await user('developer', { notices: wishesOf('developer', ['key.created']) });
    await user('viewer', { notices: { on: ['key.created'], off: [] } });
    await user('owner', { status: 'disabled' });
    await user('operator');
    await signedIn(store.db, 'owner', await makeAccount(store.db, 0));
    await key();
    await announce();

    expect(await told()).to.have.members([
      `key.created ${owner.username}`,
      `key.created ${elsewhere.email}`,
      `key.created ${curious.username}`,
    ]);
  });

  it('a new browser to the user alone', async () => {
    const signer = await user('viewer');
    await user('owner');
    const at = new Date();
    const act = { event: 'sign_in.new_device', at, told: { user_id: signer._id, username: 'x', address: '::1' } };
    await store.db.collection<UserDocument>('users').updateOne({ _id: signer._id }, { $set: { unannounced: [act] } });
    await announce();

    expect(await told()).to.deep.equal([`sign_in.new_device ${signer.username}`]);
  });

  it('users and webhooks too; operators of what is theirs', async () => {
    const owner = await user('owner');
    const operator = await user('operator');
    await inviteUser(store.db, new Date(), { username: 'ravi', account, role: 'sender' });
    const wanted = { account, channel: 'sms', url: 'https://shop.test/', events: ['message.sent'] } as const;
    const { endpoint } = await createEndpoint(store.db, systemClock, TEST_BOX, wanted);
    await disableEndpoint(store.db, endpoint._id, 'gone', { at: new Date(), url: endpoint.url });
    await createKey(store.db, systemClock, { name: 'theirs', scopes: ['admin:read'] });
    await announce();

    expect(await told()).to.have.members([
      `user.added ${owner.username}`,
      `webhook.disabled ${owner.username}`,
      `key.created ${operator.username}`,
    ]);
  });

  it('of the same thing once in an hour', async () => {
    const at = new Date();
    const what = { event: 'webhook.disabled', account, subject: newId('req') } as const;
    const tellsAfter = (minutes: number) =>
      mayTell(store.db, { ...what, at: new Date(at.getTime() + minutes * 60_000) });

    expect([
      await tellsAfter(0),
      await tellsAfter(0),
      await tellsAfter(59),
      await tellsAfter(60),
      await tellsAfter(61),
    ]).to.deep.equal([...[true, true, false, true, false]]);
    expect(await mayTell(store.db, { ...what, subject: 'another', at })).to.equal(true);
  });

  it('no more of it in an hour than anybody reads', async () => {
    await user('owner');
    const { insertedCount } = await store.db
      .collection('mails')
      .insertMany(Array.from({ length: MAILS_PER_HOUR - 1 }, (_, i) => ({ account, at: new Date(), n: i })));
    await key('first');
    await key('second');
    await announce();

    expect((await mails()).length).to.equal(insertedCount + 1);
  });
});
