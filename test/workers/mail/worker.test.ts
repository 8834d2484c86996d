import type { MailDocument } from '../../../shared/people/mails.ts';
import { inviteUser } from '../../../shared/people/users/store.ts';
import { type AccountId, mailId, newId } from '../../../shared/platform/runtime/ids.ts';
import { type MailConfig, mailMisconfigured } from '../../../workers/mail/server.ts';
import { announceActs } from '../../../workers/maintenance/announce.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { MailWorld } from '../../support/mail-world.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { useStore } from '../../support/store.ts';
import { tellDeps } from '../../support/tell-deps.ts';

describe('mails', () => {
  const store = useStore();
  let account: AccountId;
  let world: MailWorld;
  beforeEach(async () => {
    await store.db.collection('mails').deleteMany({});
    account = await makeAccount(store.db, 0, { name: 'Asha & Sons <Ltd>' });
  });
  afterEach(() => world.close());

  const put = async (more: Partial<MailDocument> = {}): Promise<void> => {
    const at = more.at ?? new Date();
    const user = newId('usr');
    const told = { key_id: 'k', name: 'server <b>', scopes: ['send', 'read'], created_by: 'asha@example.com' };
    await store.db.collection<MailDocument>('mails').insertOne({
      ...{ _id: mailId('evt', user, at), account, accountName: 'Asha & Sons <Ltd>', user },
      ...{ to: 'asha@example.com', kind: 'key.created', told, at, state: 'waiting', due: at, tries: 0 },
      ...{ until: new Date(at.getTime() + 86_400_000), expiresAt: new Date(at.getTime() + 2 * 86_400_000) },
      ...more,
    });
  };

  it('are text and HTML, with nothing to be loaded and nothing of the words taken as HTML', async () => {
    world = await MailWorld.open(store.db);
    await put();
    world.start();

    const { _id } = await world.ended('sent');
    const [mail] = world.mailbox.mails();
    expect(mail).to.deep.include({
      ...{ from: 'no-reply@sms.example.com', to: ['asha@example.com'], messageId: `<${_id}@sms.example.com>` },
      subject: '[Asha & Sons <Ltd>] New API key: server <b>',
    });
    expect(mail?.text).to.include('asha@example.com made the API key server <b>. It may: send, read.');
    expect(mail?.text).to.include('https://sms.example.com/dashboard/keys');
    expect(mail?.html).to.include('server &lt;b&gt;').and.to.include('width=device-width');
    expect(mail?.html).not.to.match(/<(img|script|link|style|iframe)|src=|@import|url\(/);
  });

  it('after a crash behind the answer of the server the same mail goes again, with the same Message-ID', async () => {
    world = await MailWorld.open(store.db);
    await put();
    world.start();
    await world.ended('sent');
    await world.stop();
    await store.db.collection<MailDocument>('mails').updateMany({}, { $set: { state: 'waiting', due: new Date() } });
    world.start();
    await world.ended('sent');

    const ids = world.mailbox.mails().map(({ messageId }) => messageId);
    expect(ids).to.have.length(2);
    expect(new Set(ids).size).to.equal(1);
  });

  it('one that is refused for good is not tried again, and the others go', async () => {
    world = await MailWorld.open(store.db, {
      refuse: (to) => (to.startsWith('gone') ? { code: 550, words: 'no such user gone@example.com' } : undefined),
    });
    await put({ at: new Date(Date.now() - 1_000), to: 'gone@example.com' });
    await put();
    world.start();

    const failed = await world.ended('failed');
    expect(failed.error).to.equal('550 no such user …');
    expect(failed).not.to.have.property('due');
    await eventually(() => world.mailbox.mails().length === 1, 'the other mail');
  });

  it('one that is refused for now goes later', async () => {
    const clock = new ManualClock(new Date());
    let isBusy = true;
    world = await MailWorld.open(store.db, { refuse: () => (isBusy ? { code: 451, words: 'try later' } : undefined) });
    await put({ at: clock.now() });
    world.start({ clock });
    await eventually(async () => (await world.stored())[0]?.tries === 1, 'a try');
    const [waiting] = await world.stored();
    expect(waiting).to.deep.include({ state: 'waiting', error: '451 try later' });
    expect(Number(waiting?.due) - clock.now().getTime()).to.equal(60_000);

    isBusy = false;
    clock.turn(60_000);
    await world.ended('sent');
  });

  it('wait while the server is away, and expire when they are of no use any more', async () => {
    const clock = new ManualClock(new Date());
    world = await MailWorld.open(store.db);
    const { port } = world.mailbox;
    await world.mailbox.close();
    await put({ at: clock.now() });
    world.start({ clock, port });
    await eventually(async () => (await world.stored())[0]?.error?.includes('ECONNREFUSED'), 'trouble');
    expect((await world.stored())[0]).to.deep.include({ state: 'waiting', tries: 0 });

    clock.turn(25 * 3_600_000);
    await world.ended('expired');
  });

  it('a server that lets nobody in delays them', async () => {
    world = await MailWorld.open(store.db, { user: { name: 'harkara', password: 'right' } });
    await put();
    world.start({ user: 'harkara', password: 'wrong' });
    await eventually(async () => (await world.stored())[0]?.error !== undefined, 'trouble');
    const [waiting] = await world.stored();
    expect(waiting).to.deep.include({ state: 'waiting', tries: 0 });
    expect(JSON.stringify(waiting)).not.to.include('wrong');

    await world.stop();
    world.start({ user: 'harkara', password: 'right' });
    await world.ended('sent');
  });

  it('an invitation has its link, which the store has only sealed, and no longer than it waits', async () => {
    world = await MailWorld.open(store.db);
    const invited = { username: 'ravi', email: 'ravi@example.com', account, role: 'developer' } as const;
    const { token } = await inviteUser(store.db, new Date(), invited, undefined, TEST_BOX);
    expect(await announceActs(tellDeps(store.db))).to.equal(2);
    const [waiting] = await world.stored();
    expect(waiting).to.deep.include({ kind: 'link', to: 'ravi@example.com', state: 'waiting' });
    expect(JSON.stringify(waiting)).not.to.include(token);
    world.start();

    expect(await world.ended('sent')).not.to.have.property('sealed');
    const [mail] = world.mailbox.mails();
    expect(mail?.subject).to.equal('Your access to Asha & Sons <Ltd>');
    for (const body of [mail?.text, mail?.html])
      expect(body).to.include(`https://sms.example.com/dashboard/link#${token}`);
  });

  it('settings that cannot work are named, in words', async () => {
    world = await MailWorld.open(store.db);
    const mailFrom = 'Harkara <no-reply@example.com>';
    const server = { smtpHost: 'mail.example.com', smtpPort: 587, smtpUser: 'u', smtpPassword: 'p' };
    const good: MailConfig = { ...server, smtpTls: 'starttls', mailFrom };

    expect(mailMisconfigured(good)).to.equal(undefined);
    expect(mailMisconfigured({ ...good, mailFrom: '' })).to.include('HARKARA_MAIL_FROM is missing');
    expect(mailMisconfigured({ ...good, mailFrom: 'Harkara' })).to.include('must have an address');
    expect(mailMisconfigured({ ...good, smtpTls: 'none' })).to.include('in the clear');
    expect(mailMisconfigured({ ...good, smtpTls: 'none', smtpHost: '127.0.0.1' })).to.equal(undefined);
  });
});
