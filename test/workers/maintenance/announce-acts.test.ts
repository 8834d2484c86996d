import { createSender, decideSender } from '../../../shared/carriers/sender.ts';
import { type ConditionDocument, storeConditions } from '../../../shared/conditions/condition.ts';
import { wishesOf } from '../../../shared/events/notices.ts';
import type { DeliveryDocument } from '../../../shared/events/webhooks/delivery.ts';
import { createEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { holdCollection, releaseHold } from '../../../shared/messages/traffic/hold.ts';
import { updateAccount } from '../../../shared/money/accounts/store.ts';
import type { KeyDocument } from '../../../shared/people/keys/key.ts';
import { createKey, findOwnKey } from '../../../shared/people/keys/store.ts';
import { MAILS_PER_HOUR, type MailDocument } from '../../../shared/people/mails.ts';
import { inviteUser } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { render } from '../../../workers/mail/render.ts';
import { announceActs, announceApprovals, announceConditions, mayTell } from '../../../workers/maintenance/announce.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { signedIn } from '../../support/signed-in.ts';
import { useStore } from '../../support/store.ts';
import { tellDeps } from '../../support/tell-deps.ts';

describe('what happens to an account is told', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(async () => {
    for (const name of ['mails', 'users', 'conditions']) await store.db.collection(name).deleteMany({});
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
    // A process that died before removing the act does it all again.
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

  it('users too; operators of what is theirs', async () => {
    const owner = await user('owner');
    const operator = await user('operator');
    await inviteUser(store.db, new Date(), { username: 'ravi', account, role: 'sender' });
    await createKey(store.db, systemClock, { name: 'theirs', scopes: ['admin:read'] });
    await announce();

    expect(await told()).to.have.members([`user.added ${owner.username}`, `key.created ${operator.username}`]);
  });

  it('what operators decided about a sender, and what the brake did; operators of the brake too', async () => {
    const owner = await user('owner');
    const operator = await user('operator');
    const events = ['sender.approved', 'traffic.held', 'traffic.released'] as const;
    const endpoint = { account, channel: 'account', url: 'https://shop.test/', events } as const;
    await createEndpoint(store.db, systemClock, TEST_BOX, endpoint);
    const sender = { account, sender: 'HARKRA', routes: ['transactional'], status: 'submitted' } as const;
    await createSender(store.db, systemClock, sender);
    await decideSender(store.db, systemClock, account, 'HARKRA', 'approved');
    const held = { prefix: '994771', messages: 40, usual_messages: 3, delivered: 0.05, usual_delivered: 0.9 };
    await holdCollection(store.db).insertOne({
      ...{ _id: `${account}:994771`, account, prefix: '994771', state: 'held', since: new Date() },
      seen: { messages: 40, portion: 1, delivered: 0.05, usualMessages: 3, usualPortion: 0, usualDelivered: 0.9 },
      unannounced: [{ event: 'traffic.held', at: new Date(), told: held }],
    });
    await announce();
    await releaseHold(store.db, account, '994771', { at: new Date(), by: 'ops', reason: 'A launch' });
    await announce();

    const users = [owner, operator].map(({ username }) => username);
    expect(await told()).to.have.members([
      `sender.approved ${owner.username}`,
      ...users.flatMap((one) => [`traffic.held ${one}`, `traffic.released ${one}`]),
    ]);
    const pages = (await mails()).flatMap((mail) => (mail.kind === 'traffic.held' ? render(mail, '/d').text : []));
    expect(pages.map((text) => /dashboard:\n(.*)/.exec(text)?.[1])).to.have.members(['/d/limits', '/d']);
    expect(pages[0]).to.include('begin with 994771 got 40 messages in two hours, at most 3 before, and 5 % of them');
    const deliveries = await store.db.collection<DeliveryDocument>('deliveries').find({ account }).toArray();
    const bodies = deliveries.map(({ body }): Record<string, unknown> => JSON.parse(body));
    expect(bodies.map(({ timestamp, ...body }) => body)).to.have.deep.members([
      { event: 'sender.approved', sender: 'HARKRA', reason: null, channel: 'account' },
      { event: 'traffic.held', ...held, channel: 'account' },
      { event: 'traffic.released', prefix: '994771', by: 'ops', reason: 'A launch', channel: 'account' },
    ]);
  });

  it('operators that something new waits for their decision, once in an hour', async () => {
    const operator = await user('operator');
    await user('operator_desk');
    const clock = new ManualClock(new Date());
    const ask = async (sender: string) => {
      clock.turn(1_000);
      await createSender(store.db, clock, { account, sender, routes: ['transactional'], status: 'submitted' });
    };
    const look = async () => {
      await announceApprovals(tellDeps(store.db, clock));
      return (await mails()).map(({ told: { senders } }) => senders);
    };
    await store.db.collection('senders').deleteMany({});

    expect(await look()).to.deep.equal([]);
    await ask('ONE');
    expect(await look()).to.deep.equal([1]);
    await ask('TWO');
    expect(await look()).to.deep.equal([1]);
    clock.turn(3_600_000);
    expect(await look()).to.deep.equal([1, 2]);
    clock.turn(3 * 3_600_000);
    expect(await look()).to.deep.equal([1, 2]);
    expect(await told()).to.deep.equal(Array(2).fill(`approval.waiting ${operator.username}`));
  });

  it('what has been wrong for a minute: to the account, or to operators, and once while it lasts', async () => {
    const owner = await user('owner');
    const operator = await user('operator');
    await user('operator_viewer');
    const endpoint = { account, channel: 'account', url: 'https://shop.test/', events: ['balance.low'] } as const;
    await createEndpoint(store.db, systemClock, TEST_BOX, endpoint);
    await updateAccount(store.db, account, { lowBalance: 500 });
    const clock = new ManualClock(new Date());
    const condition = (name: string, kind: 'account' | 'carrier', id: string): ConditionDocument => ({
      ...{ _id: `${name}:${id}`, name, subject: { kind, id }, words: `${name} is the case.`, since: clock.now() },
      concerns: { [kind === 'account' ? 'account' : 'operator']: { severity: 'urgent', todo: 'Do it.' } },
      ...(kind === 'account' && { account }),
    });
    const low = condition('balance.low', 'account', account);
    const refusing = condition('carrier.refusing', 'carrier', 'airtel');
    const look = async (found: readonly ConditionDocument[]) => {
      const ofAccounts = found.filter((one) => one.account !== undefined);
      await storeConditions(store.db, 'accounts', ofAccounts, clock.now());
      const others = found.filter((one) => one.account === undefined);
      await storeConditions(store.db, 'installation', others, clock.now());
      return announceConditions(tellDeps(store.db, clock));
    };

    expect(await look([low, refusing])).to.equal(0);
    clock.turn(60_000);
    expect(await look([low, { ...refusing, words: 'It refuses even more.' }])).to.equal(2);
    expect(await look([low, refusing])).to.equal(0);
    // It recurs within the hour, and once more after it.
    await look([refusing]);
    const again = { ...low, since: clock.now() };
    clock.turn(90_000);
    expect(await look([again, refusing])).to.equal(0);
    clock.turn(3_600_000);
    expect(await look([again, refusing])).to.equal(1);

    expect(await told()).to.have.members([
      `balance.low ${owner.username}`,
      `balance.low ${owner.username}`,
      `carrier.refusing ${operator.username}`,
    ]);
    const [delivery] = await store.db.collection<DeliveryDocument>('deliveries').find({ account }).toArray();
    expect(JSON.parse(delivery?.body ?? '')).to.deep.include({
      ...{ event: 'balance.low', balance: 0, threshold: 500 },
      ...{ words: 'balance.low is the case.', what_to_do: 'Do it.', channel: 'account' },
    });
  });

  it('of the same thing once in an hour', async () => {
    const begin = Date.now();
    const what = { event: 'webhook.failing', account, subject: newId('req') } as const;
    const tellsAfter = (minutes: number, at = minutes) => {
      const [now, happened] = [minutes, at].map((one) => new Date(begin + one * 60_000));
      return mayTell(store.db, { ...what, at: happened ?? new Date() }, now ?? new Date());
    };

    expect([
      ...[await tellsAfter(0), await tellsAfter(1, 0), await tellsAfter(59), await tellsAfter(61, 59)],
      await tellsAfter(62),
    ]).to.deep.equal([true, true, false, true, false]);
    expect(await mayTell(store.db, { ...what, subject: 'another', at: new Date() }, new Date())).to.equal(true);
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

  it('five links an hour to one address, whosever it is', async () => {
    const victim = { account, role: 'sender', email: 'victim@elsewhere.test' } as const;
    for (let n = 0; n < 8; n++)
      await inviteUser(store.db, new Date(), { ...victim, username: `u${n}` }, undefined, TEST_BOX);
    await inviteUser(
      store.db,
      new Date(),
      { account, role: 'sender', username: 'ravi@shop.test' },
      undefined,
      TEST_BOX,
    );
    await announce();

    expect(await told()).to.deep.equal([...Array(5).fill('link victim@elsewhere.test'), 'link ravi@shop.test'].sort());
  });
});
