import { expect } from 'chai';
import { runOps } from '../../../scripts/ops/run.ts';
import { loadConfig } from '../../../shared/platform/config/settings.ts';
import { OpsWorld } from '../../support/ops-world.ts';

describe('npm run ops: accounts, credits', () => {
  let world: OpsWorld;
  before(async () => {
    world = await OpsWorld.open();
  });
  after(() => world.close());

  describe('account', () => {
    it('is created, shown, listed, suspended and resumed', async () => {
      const made = await world.json(
        'account create --name Shop --currency EUR --expiry-date 2999-12-31 --senders registered',
      );
      const id = String(made.account);

      expect(made).to.include({ name: 'Shop', status: 'active', balance: 0, currency: 'EUR', senders: 'registered' });
      expect(await world.json(`account show ${id}`)).to.include({ account: id, expiry_date: '2999-12-31' });
      expect((await world.run('account list')).out).to.include(id);
      await world.json(`account suspend ${id}`);
      expect(await world.json(`account show ${id}`)).to.include({ status: 'suspended' });
      await world.json(`account resume ${id}`);
      expect(await world.json(`account show ${id}`)).to.include({ status: 'active' });
    });

    it('is paused and resumed; a resumption lifts a suspension too', async () => {
      const id = await world.newAccount();

      expect(await world.json(`account pause ${id}`)).to.include({ status: 'paused' });
      expect(await world.json(`account show ${id}`)).to.include({ status: 'paused' });
      await world.json(`account suspend ${id}`);
      expect(await world.json(`account show ${id}`)).to.include({ status: 'suspended' });
      await world.json(`account resume ${id}`);
      expect(await world.json(`account show ${id}`)).to.include({ status: 'active' });
      expect((await world.run('account list')).out).to.match(new RegExp(`${id} +active`));
    });

    it('has DLT and its business when it is told so, at once or later', async () => {
      const made = await world.json('account create --name Bank --dlt on --entity-id 1101160000000000009');
      expect(made).to.include({ dlt: 'on', entity_id: '1101160000000000009' });
      const id = await world.newAccount();
      expect(await world.json(`account show ${id}`)).to.include({ dlt: 'off', entity_id: null });

      expect(await world.json(`account update ${id} --dlt on`)).to.include({
        dlt: 'on',
        entity_id: null,
        log: 'unusual',
      });
      expect(await world.json(`account update ${id} --log all`)).to.include({ dlt: 'on', log: 'all' });
      expect(await world.json(`account update ${id} --entity-id 1101160000000000007`)).to.include({
        dlt: 'on',
        entity_id: '1101160000000000007',
      });
      expect((await world.run(`account update ${id}`)).err).to.include('Nothing to change');
      expect(await world.run(`account update ${id} --entity-id 12`)).to.include({ code: 2 });
    });

    it('says what it lacks to send, when it is made, shown and listed, and how to mend it', async () => {
      const missing = async (id: string) => (await world.json(`account show ${id}`)).missing_to_send;
      const made = await world.run('account create --name Bank --dlt on');
      const id = /acc_\w+/.exec(made.out)?.[0] ?? '';

      expect(made.out).to.include(`without a PE id: account update ${id} --entity-id`);
      expect(made.out).to.include(`without a sender: sender create ${id}`);
      expect(made.out).to.include(`without a template: template import ${id}`);
      expect((await world.run('account list')).out).to.match(new RegExp(`${id} .*PE id, sender, template`));
      await world.json(`account update ${id} --entity-id 1101160000000000009`);
      expect(await missing(id)).to.deep.equal(['sender', 'template']);
      await world.json(`sender create ${id} HARKRA`);
      await world.json(`template create ${id} 1107160000000000001 --content Hi --senders OTHERS`);
      expect(await missing(id)).to.deep.equal(['template']);
      await world.json(`template create ${id} 1107160000000000002 --content Hi --senders HARKRA`);
      expect(await missing(id)).to.deep.equal([]);
      expect(await missing(await world.newAccount())).to.deep.equal(['sender']);
      const { account } = await world.json('account create --name Shop --senders any');
      expect(await missing(account)).to.deep.equal([]);
    });

    it('has its recipients checked when it is told so; with DLT it is told that there is such a check', async () => {
      const told = /--number-check on/;
      expect((await world.run('account create --name Bank --dlt on')).out).to.match(told);
      expect((await world.run('account create --name Bank --dlt on --number-check off')).out).to.not.match(told);
      expect((await world.run('account create --name Shop')).out).to.not.match(told);
      const made = await world.json('account create --name Bank --number-check on --country LK');
      expect(made).to.include({ number_check: 'on', country: 'LK' });
      const id = await world.newAccount();
      expect(await world.json(`account show ${id}`)).to.include({ number_check: 'off', country: null });

      expect(await world.json(`account update ${id} --dlt on`)).to.include({ number_check: 'off', country: 'IN' });
      expect(await world.json(`account update ${id} --number-check mobile`)).to.include({ number_check: 'mobile' });
      expect(await world.json(`account update ${id} --number-check off`)).to.include({ number_check: 'off' });
      expect(await world.run(`account update ${id} --country XX`)).to.include({ code: 2 });
    });

    it('gets another name, more time for its credits, and other rules for senders', async () => {
      const id = await world.newAccount();

      await world.json(`account update ${id} --expiry-date 2999-12-31 --senders registered`);
      await world.json(`account update ${id} --name Bank`);

      expect(await world.json(`account show ${id}`)).to.include({
        name: 'Bank',
        expiry_date: '2999-12-31',
        senders: 'registered',
      });
      expect(await world.run(`account update ${id} --expiry-date 2001-01-01`)).to.include({
        code: 1,
        err: '--expiry-date 2001-01-01 is in the past. Give a later day.\n',
      });
    });

    it('may give its own keys more requests a minute when it is told so', async () => {
      const account = await world.newAccount();

      expect(await world.json(`account show ${account}`)).to.include({ key_per_minute: 1_000 });
      await world.json(`account update ${account} --key-per-minute 5000`);
      expect(await world.json(`account show ${account}`)).to.include({ key_per_minute: 5_000 });
    });

    it('is not said to be paused while it is suspended', async () => {
      const id = await world.newAccount();
      await world.json(`account suspend ${id}`);

      expect(await world.run(`account pause ${id}`)).to.include({ code: 1 });

      expect(await world.json(`account show ${id}`)).to.include({ status: 'suspended' });
    });

    it('with a currency that does not exist or a day that is over is refused', async () => {
      expect(await world.run('account create --name x --currency XYZ')).to.include({ code: 2 });
      const { code, err } = await world.run('account create --name x --expiry-date 2001-01-01');

      expect(code).to.equal(1);
      expect(err).to.equal('--expiry-date 2001-01-01 is in the past. Give a later day.\n');
    });

    it('that does not exist is told with the way to find the right one', async () => {
      const unknown = 'acc_00000000000000000000000000';

      for (const line of [`account show ${unknown}`, `key list ${unknown}`, `credits top-up ${unknown} 5`]) {
        expect(await world.run(line)).to.deep.equal({
          code: 1,
          out: '',
          err: `There is no account ${unknown}: \`account list\` shows them.\n`,
        });
      }
    });
  });

  describe('credits correct', () => {
    it('takes credits away with the reason, never more than there are', async () => {
      const account = await world.newAccount();
      await world.json(`credits top-up ${account} 500 --id first`);
      const correct = (amount: number) =>
        world.run([
          'credits',
          'correct',
          '--id',
          `c${amount}`,
          '--reason',
          'booked twice',
          '--',
          account,
          String(amount),
        ]);

      expect((await correct(-200)).out).to.match(/^Took 200 credits \(id .+\)\. Balance: 300\.\n$/);
      expect(await correct(-301)).to.deep.include({
        code: 1,
        err: 'Not corrected: the account has 300 credits, and no more can be taken.\n',
      });
      const [entry] = await world.json(`ledger show ${account} --limit 1`);
      expect(entry).to.include({ reason: 'correction', amount: -200, note: 'booked twice' });
      expect(entry.by).to.match(/^ops /);
      expect(await world.json(`ledger verify --account ${account}`)).to.include({ ok: true });
    });
  });

  it('credits correct with the id of a top-up changes nothing and says so', async () => {
    const account = await world.newAccount();
    await world.json(`credits top-up ${account} 500 --id invoice-7`);

    const { code, err } = await world.run(`credits correct ${account} 500 --id invoice-7 --reason gift`);

    expect(code).to.equal(1);
    expect(err).to.equal(
      'Nothing added: id invoice-7 added 500 credits before, in a top-up. Another correction needs another --id. Balance: 500.\n',
    );
  });

  it('credits correct whose outcome is unknown says how to find out, and a repetition with the id counts once', async () => {
    const account = await world.newAccount();
    const accounts = world.store.db.collection('accounts');
    await accounts.updateOne({ _id: account as never }, { $set: { balance: 'broken' } });
    const line = `credits correct ${account} 5 --reason gift`;

    const { code, err } = await world.run(line);

    const [, id = ''] = /^The id of this correction is (\w+)\./.exec(err) ?? [];
    expect(code).to.equal(1);
    expect(err).to.include(`run the same command with --id ${id}: it counts once.`);
    await accounts.updateOne({ _id: account as never }, { $set: { balance: 0 } });
    for (const kind of ['applied', 'already']) {
      expect(await world.json(`${line} --id ${id}`)).to.include({ kind, balance: 5 });
    }
  });

  describe('credits top-up', () => {
    it('with the same id adds once', async () => {
      const account = await world.newAccount();

      const first = await world.json(`credits top-up ${account} 500 --id invoice-7`);
      const again = await world.json(`credits top-up ${account} 500 --id invoice-7`);

      expect(first).to.include({ kind: 'applied', balance: 500 });
      expect(again).to.include({ kind: 'already', balance: 500 });
    });

    it('with the id of another amount adds nothing and says so', async () => {
      const account = await world.newAccount();
      await world.json(`credits top-up ${account} 500 --id invoice-8`);

      const { code, err } = await world.run(`credits top-up ${account} 700 --id invoice-8`);

      expect(code).to.equal(1);
      expect(err).to.include('added 500 credits before, not 700').and.include('Balance: 500.');
    });

    it('without an id adds each time', async () => {
      const account = await world.newAccount();

      await world.run(`credits top-up ${account} 5`);
      const { out } = await world.run(`credits top-up ${account} 5`);

      expect(out).to.include('Balance: 10.');
    });

    it('tells a new id before anything is added, so that who is interrupted can repeat it', async () => {
      const account = await world.newAccount();
      let told = '';
      const stopped = new Error('Ctrl-C');
      const run = runOps(
        ['credits', 'top-up', account, '5'],
        {
          out: () => {},
          err: (text) => {
            told ||= text;
            throw stopped;
          },
        },
        () => loadConfig(world.env),
      );
      await run.catch((error: unknown) => expect(error).to.equal(stopped));
      expect(await world.json(`account show ${account}`)).to.include({ balance: 0 });

      const [, id] = /--id (\S+)\.$/.exec(told) ?? [];
      expect(await world.json(`credits top-up ${account} 5 --id ${id}`)).to.include({ id, balance: 5 });
      expect(await world.json(`credits top-up ${account} 5 --id ${id}`)).to.include({ kind: 'already', balance: 5 });
    });

    it('refuses what is no whole positive number', async () => {
      const account = await world.newAccount();

      for (const amount of ['0', '1.5', '1e3', 'ten']) {
        expect(await world.run(`credits top-up ${account} ${amount}`)).to.include({ code: 2 });
      }
      expect(await world.json(`account show ${account}`)).to.include({ balance: 0 });
    });
  });
});
