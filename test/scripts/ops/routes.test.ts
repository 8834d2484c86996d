import { expect } from 'chai';
import type { AuditDocument } from '../../../shared/people/audit/entry.ts';
import { OpsWorld } from '../../support/ops-world.ts';

describe('npm run ops: routes', () => {
  let world: OpsWorld;
  let account: string;
  before(async () => {
    process.env.SMPP_PASSWORD = 'x';
    world = await OpsWorld.open();
    for (const carrier of ['airtel', 'jio', 'backup']) {
      await world.run(`carrier create ${carrier} --host smsc.example --port 2775 --system-id us`);
    }
    account = await world.newAccount();
  });
  after(async () => {
    delete process.env.SMPP_PASSWORD;
    await world.close();
  });
  beforeEach(async () => {
    await world.store.db.collection('routes').deleteMany({});
  });

  it('tell what they are sold for and what each carrier costs', async () => {
    await world.run('route add priced --carriers airtel,jio');
    const set = await world.run(['route', 'set', 'priced', '--price', '0.12', '--costs', 'airtel=0.10 INR,jio=0.1']);
    const shown = await world.run('route show priced');

    expect(set.out).to.include(', sold for 0.12, airtel costs 0.10 INR, jio costs 0.1.');
    expect(shown.out).to.include(', sold for 0.12, airtel costs 0.10 INR, jio costs 0.1.');
  });

  it('are no more told for what, and what they cost, after `none`; each carrier has one cost', async () => {
    await world.run(['route', 'add', 'priced', '--carriers', 'airtel', '--price', '0.12', '--costs', 'airtel=0.1']);

    const unsold = await world.run('route set priced --price none');
    expect(unsold.out).to.include('airtel costs 0.1').and.not.include('sold');
    const uncosted = await world.run('route set priced --costs none');
    expect(uncosted.out).not.to.include('costs');
    const twice = await world.run('route set priced --costs airtel=0.1,airtel=0.2');
    expect(twice.err).to.include('each once');
  });

  it('of promotional messages have no priority: they would match nothing', async () => {
    const refused = await world.run('route add odd --carriers airtel --route promotional --priority otp');

    expect(refused.err).to.include('Only transactional messages have a priority');
    expect((await world.run('route add even --carriers airtel --priority otp')).code).to.equal(0);
  });

  it('are added, shown, changed and removed; every change is in the audit', async () => {
    const added = await world.run('route add india --country IN --carriers airtel:70,jio:30;backup --wait-seconds 20');
    const changed = await world.json([
      'route',
      'set',
      'india',
      '--country',
      'any',
      '--prefix',
      '91,92',
      '--price',
      '0.12 INR',
    ]);
    const refusing = await world.run('route add abroad --carriers none');
    await world.json('route remove abroad');
    const listed = await world.run('route list');
    await world.json('route remove india');

    expect(added.out).to.include('india is added: country IN → airtel:70,jio:30;backup, the next one after 20 s.');
    expect(refusing.out).to.include('abroad is added: everything → none: refused.');
    expect(added.out).to.include('What no route matches is refused with 400 no_route');
    expect(changed).to.deep.include({
      name: 'india',
      match: { prefixes: ['91', '92'] },
      waitSeconds: 20,
      price: '0.12 INR',
    });
    expect(listed.out).to.match(/india +0 +prefix 91,92 +airtel:70,jio:30;backup +20 s +0.12 INR/);
    expect((await world.run('route show india')).err).to.include('There is no route "india"');
    const audit = await world.store.db.collection<AuditDocument>('audit').find({ 'subject.id': 'india' }).toArray();
    expect(audit.map(({ action, outcome }) => `${action} ${outcome}`)).to.deep.equal([
      'route.add done',
      'route.set done',
      'route.remove done',
    ]);
  });

  it('with an account as a condition are no entry of that account alone', async () => {
    await world.json(`route add own --account ${account} --carriers airtel`);

    const entry = await world.store.db.collection<AuditDocument>('audit').findOne({ 'subject.id': 'own' });
    expect(entry).not.to.have.property('account');
  });

  it('that cannot work are refused with what to correct', async () => {
    const refused = await world.run('route add bad --carriers airtel,vi:0;airtel --country XX --prefix 091');

    expect(refused).to.include({ code: 2 });
    const named = await world.run('route add bad --carriers airtel,vi;airtel --country XX');
    expect(named.code).to.equal(1);
    for (const what of ['There is no carrier vi', 'Name each carrier once', 'No country has the code XX']) {
      expect(named.err).to.include(what);
    }
  });

  it('are not said to be changed when nothing is to be changed', async () => {
    await world.run('route add rest --carriers airtel');

    expect(await world.run('route set rest')).to.deep.equal({
      code: 1,
      out: '',
      err: 'Nothing to change: see `route set --help`.\n',
    });
  });

  it('for an account that does not exist are refused: they would match nothing', async () => {
    const nobody = 'acc_00000000000000000000000000';

    const refused = await world.run(`route add own --account ${account},${nobody} --carriers airtel`);

    expect(refused).to.deep.equal({
      code: 1,
      out: '',
      err: `Refused. There is no account ${nobody}: \`account list\` shows them.\n`,
    });
    expect((await world.run('route list')).out).to.include('There are no routes');
  });

  it('explain says who would carry a message, by which route, and how its carriers are', async () => {
    await world.json('route add india --country IN --carriers airtel;backup');
    await world.json('carrier pause airtel');

    const india = await world.run(`route explain 919876543210 --account ${account}`);
    const uk = await world.json(`route explain 447911123456 --account ${account}`);

    expect(india.out).to.include('Nobody at the moment: it would be accepted and wait.');
    expect(india.out).to.include('By the route india (country IN): airtel;backup, the next one after 30 s.');
    expect(india.out).to.include('1. airtel: paused');
    expect(india.out).to.match(/2\. backup: down/);
    expect(uk).to.deep.equal({ carrier: null, why: 'no route matches it', route: null });
  });

  it('explain names each other route that matches once, by however many destinations it does', async () => {
    await world.json('route add long --prefix 9198 --carriers airtel');
    await world.json('route add india --country IN --prefix 91,919 --carriers backup');

    const { others } = await world.json(`route explain 919876543210 --account ${account}`);

    expect(others).to.deep.equal(['india']);
  });

  it('explain without any route: the carriers of the routing group', async () => {
    const told = await world.json(`route explain 919876543210 --account ${account} --route promotional`);

    expect(told).to.deep.include({ route: null, path: 'promotional' });
  });
});
