import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runOps } from '../../../scripts/ops/run.ts';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { loadConfig } from '../../../shared/config/settings.ts';
import { type AccountId, eventId, newId } from '../../../shared/runtime/ids.ts';
import { createSecretBox, loadSecretKey } from '../../../shared/runtime/secret-box.ts';
import { type DeliveryDocument, deliveryId } from '../../../shared/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/webhooks/endpoint.ts';
import { makeDelivery, present } from '../../shared/webhooks/make.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What one command answered. */
interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

describe('npm run ops', () => {
  let store: TestStore;
  let dataDir: string;
  let env: Record<string, string>;
  before(async () => {
    store = await openTestStore();
    dataDir = mkdtempSync(join(tmpdir(), 'harkara-ops-'));
    env = { MONGODB_URI: store.uri, MONGODB_DATABASE: store.db.databaseName, HARKARA_DATA_DIR: dataDir };
  });
  after(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Runs a command line whose words are divided by spaces. */
  async function ops(line: string, more: Record<string, string> = {}): Promise<Ran> {
    const said = { out: '', err: '' };
    const terminal = {
      out: (text: string) => {
        said.out += `${text}\n`;
      },
      err: (text: string) => {
        said.err += `${text}\n`;
      },
    };
    const code = await runOps(line.split(' '), terminal, () => loadConfig({ ...env, ...more }));
    return { code, ...said };
  }

  async function json(line: string, more?: Record<string, string>): Promise<Readonly<Record<string, unknown>>> {
    const { code, out, err } = await ops(`${line} --json`, more);
    expect(err).to.equal('');
    expect(code).to.equal(0);
    return JSON.parse(out);
  }

  async function newAccount(): Promise<string> {
    return String((await json('account create --name Shop')).account);
  }

  describe('account', () => {
    it('is created, shown, listed, suspended and resumed', async () => {
      const made = await json(
        'account create --name Shop --currency EUR --expiry-date 2999-12-31 --senders registered',
      );
      const id = String(made.account);

      expect(made).to.include({ name: 'Shop', status: 'active', balance: 0, currency: 'EUR', senders: 'registered' });
      expect(await json(`account show ${id}`)).to.include({ account: id, expiry_date: '2999-12-31' });
      expect((await ops('account list')).out).to.include(id);
      await json(`account suspend ${id}`);
      expect(await json(`account show ${id}`)).to.include({ status: 'suspended' });
      await json(`account resume ${id}`);
      expect(await json(`account show ${id}`)).to.include({ status: 'active' });
    });

    it('is paused and resumed; a resumption lifts a suspension too', async () => {
      const id = await newAccount();

      expect(await json(`account pause ${id}`)).to.include({ status: 'paused' });
      expect(await json(`account show ${id}`)).to.include({ status: 'paused' });
      await json(`account suspend ${id}`);
      expect(await json(`account show ${id}`)).to.include({ status: 'suspended' });
      await json(`account resume ${id}`);
      expect(await json(`account show ${id}`)).to.include({ status: 'active' });
      expect((await ops('account list')).out).to.match(new RegExp(`${id} +active`));
    });

    it('has DLT and its business when it is told so, at once or later', async () => {
      const made = await json('account create --name Bank --dlt on --entity-id 1101160000000000009');
      expect(made).to.include({ dlt: 'on', entity_id: '1101160000000000009' });
      const id = await newAccount();
      expect(await json(`account show ${id}`)).to.include({ dlt: 'off', entity_id: null });

      expect(await json(`account update ${id} --dlt on`)).to.include({ dlt: 'on', entity_id: null, log: 'unusual' });
      expect(await json(`account update ${id} --log all`)).to.include({ dlt: 'on', log: 'all' });
      expect(await json(`account update ${id} --entity-id 1101160000000000007`)).to.include({
        dlt: 'on',
        entity_id: '1101160000000000007',
      });
      expect((await ops(`account update ${id}`)).err).to.include('Nothing to change');
      expect(await ops(`account update ${id} --entity-id 12`)).to.include({ code: 2 });
    });

    it('says what it lacks to send, when it is made, shown and listed, and how to mend it', async () => {
      const missing = async (id: string) => (await json(`account show ${id}`)).missing_to_send;
      const made = await ops('account create --name Bank --dlt on');
      const id = /acc_\w+/.exec(made.out)?.[0] ?? '';

      expect(made.out).to.include(`without a PE id: account update ${id} --entity-id`);
      expect(made.out).to.include(`without a sender: sender create ${id}`);
      expect(made.out).to.include(`without a template: template import ${id}`);
      expect((await ops('account list')).out).to.match(new RegExp(`${id} .*PE id, sender, template`));
      await json(`account update ${id} --entity-id 1101160000000000009`);
      expect(await missing(id)).to.deep.equal(['sender', 'template']);
      await json(`sender create ${id} HARKRA`);
      await json(`template create ${id} 1107160000000000001 --content Hi --senders OTHERS`);
      expect(await missing(id)).to.deep.equal(['template']);
      await json(`template create ${id} 1107160000000000002 --content Hi --senders HARKRA`);
      expect(await missing(id)).to.deep.equal([]);
      expect(await missing(await newAccount())).to.deep.equal([]);
    });

    it('has its recipients checked when it is told so; with DLT it is told that there is such a check', async () => {
      const told = /--number-check on/;
      expect((await ops('account create --name Bank --dlt on')).out).to.match(told);
      expect((await ops('account create --name Bank --dlt on --number-check off')).out).to.not.match(told);
      expect((await ops('account create --name Shop')).out).to.not.match(told);
      const made = await json('account create --name Bank --number-check on --country LK');
      expect(made).to.include({ number_check: 'on', country: 'LK' });
      const id = await newAccount();
      expect(await json(`account show ${id}`)).to.include({ number_check: 'off', country: null });

      expect(await json(`account update ${id} --dlt on`)).to.include({ number_check: 'off', country: 'IN' });
      expect(await json(`account update ${id} --number-check mobile`)).to.include({ number_check: 'mobile' });
      expect(await json(`account update ${id} --number-check off`)).to.include({ number_check: 'off' });
      expect(await ops(`account update ${id} --country XX`)).to.include({ code: 2 });
    });

    it('gets another name, more time for its credits, and other rules for senders', async () => {
      const id = await newAccount();

      await json(`account update ${id} --expiry-date 2999-12-31 --senders registered`);
      await json(`account update ${id} --name Bank`);

      expect(await json(`account show ${id}`)).to.include({
        name: 'Bank',
        expiry_date: '2999-12-31',
        senders: 'registered',
      });
      expect(await ops(`account update ${id} --expiry-date 2001-01-01`)).to.include({
        code: 1,
        err: '--expiry-date 2001-01-01 is over already: name a later day.\n',
      });
    });

    it('is not said to be paused while it is suspended', async () => {
      const id = await newAccount();
      await json(`account suspend ${id}`);

      expect(await ops(`account pause ${id}`)).to.include({ code: 1 });

      expect(await json(`account show ${id}`)).to.include({ status: 'suspended' });
    });

    it('with a currency that does not exist or a day that is over is refused', async () => {
      expect(await ops('account create --name x --currency XYZ')).to.include({ code: 2 });
      const { code, err } = await ops('account create --name x --expiry-date 2001-01-01');

      expect(code).to.equal(1);
      expect(err).to.equal('--expiry-date 2001-01-01 is over already: name a later day.\n');
    });

    it('that does not exist is told with the way to find the right one', async () => {
      const unknown = 'acc_00000000000000000000000000';

      for (const line of [`account show ${unknown}`, `key list ${unknown}`, `credits top-up ${unknown} 5`]) {
        expect(await ops(line)).to.deep.equal({
          code: 1,
          out: '',
          err: `There is no account ${unknown}: \`account list\` shows them.\n`,
        });
      }
    });
  });

  describe('key', () => {
    it('is shown at its creation and never again, and can be revoked', async () => {
      const account = await newAccount();
      const made = await json(`key create ${account} --name server --scopes send`);

      expect(made.key).to.match(/^hk_live_[0-9a-z]{26}_[0-9a-f]{64}$/);
      const listed = await ops(`key list ${account} --json`);
      expect(JSON.parse(listed.out)).to.have.length(1);
      expect(listed.out).to.include(String(made.id)).and.not.to.include(String(made.key).split('_').pop());
      await json(`key revoke ${made.id}`);
      expect((await ops(`key list ${account}`)).out).to.include('revoked');
    });

    it('that does not exist cannot be revoked', async () => {
      expect(await ops('key revoke 0000')).to.include({ code: 1 });
    });
  });

  describe('credits top-up', () => {
    it('with the same id adds once', async () => {
      const account = await newAccount();

      const first = await json(`credits top-up ${account} 500 --id invoice-7`);
      const again = await json(`credits top-up ${account} 500 --id invoice-7`);

      expect(first).to.include({ kind: 'applied', balance: 500 });
      expect(again).to.include({ kind: 'already', balance: 500 });
    });

    it('with the id of another amount adds nothing and says so', async () => {
      const account = await newAccount();
      await json(`credits top-up ${account} 500 --id invoice-8`);

      const { code, err } = await ops(`credits top-up ${account} 700 --id invoice-8`);

      expect(code).to.equal(1);
      expect(err).to.include('added 500 credits before, not 700').and.include('Balance: 500.');
    });

    it('without an id adds each time', async () => {
      const account = await newAccount();

      await ops(`credits top-up ${account} 5`);
      const { out } = await ops(`credits top-up ${account} 5`);

      expect(out).to.include('Balance: 10.');
    });

    it('refuses what is no whole positive number', async () => {
      const account = await newAccount();

      for (const amount of ['0', '1.5', '1e3', 'ten']) {
        expect(await ops(`credits top-up ${account} ${amount}`)).to.include({ code: 2 });
      }
      expect(await json(`account show ${account}`)).to.include({ balance: 0 });
    });
  });

  describe('sender', () => {
    it('is registered once', async () => {
      const account = await newAccount();

      await json(`sender create ${account} HARKRA --routes transactional`);
      const again = await ops(`sender create ${account} HARKRA`);

      expect(again).to.include({ code: 1, err: `HARKRA is registered to ${account} already.\n` });
      expect((await ops(`sender list ${account}`)).out).to.match(/HARKRA +approved +transactional/);
    });

    it('is submitted, approved and rejected', async () => {
      const account = await newAccount();
      const listed = async (): Promise<string> => (await ops(`sender list ${account}`)).out;

      await json(`sender create ${account} HARKRA --status submitted`);
      expect(await listed()).to.match(/HARKRA +submitted/);
      await json(`sender approve ${account} HARKRA`);
      expect(await listed()).to.match(/HARKRA +approved/);
      await json(`sender reject ${account} HARKRA`);
      expect(await listed()).to.match(/HARKRA +rejected/);
      expect((await ops(`sender approve ${account} OTHERS`)).err).to.include('has no sender OTHERS');
    });

    it('of a form that cannot travel is refused', async () => {
      expect(await ops(`sender create ${await newAccount()} TWELVE-CHARS`)).to.include({ code: 2 });
    });
  });

  describe('carrier', () => {
    afterEach(() => {
      delete process.env.SMPP_PASSWORD;
    });

    it('is created with the defaults, its password sealed and never shown', async () => {
      process.env.SMPP_PASSWORD = 'pa55word';

      const made = await ops('carrier create acme --host smsc.example --port 2775 --system-id us --json');
      const listed = await ops('carrier list --json');

      const stored = await store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'acme' });
      const box = createSecretBox(loadSecretKey('', dataDir));
      expect(JSON.parse(made.out)).to.include({ carrier: 'acme', name: 'acme', windowSize: 50, tls: false });
      expect(box.open(stored?.password ?? '')).to.equal('pa55word');
      for (const said of [made.out, listed.out]) expect(said).not.to.match(/pa55word|password/);
    });

    it('keeps in an update what is not named', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await ops('carrier create beta --host smsc.example --port 2775 --system-id us --window-size 10');

      const updated = await json('carrier update beta --per-second 100 --tls yes --paths promotional');

      expect(updated).to.deep.include({ windowSize: 10, perSecond: 100, tls: true, paths: ['promotional'] });
      const stored = await store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'beta' });
      expect(createSecretBox(loadSecretKey('', dataDir)).open(stored?.password ?? '')).to.equal('one');
    });

    it('gets the ids of DLT under its own tags, until it is told off', async () => {
      process.env.SMPP_PASSWORD = 'one';
      const made = await json(
        'carrier create india --host smsc.example --port 2775 --system-id us --dlt 0x1400,0x1401,0x1402 --dlt-chain 1101172974420830004',
      );
      expect(made.dlt).to.deep.equal({
        entityTag: 0x1400,
        templateTag: 0x1401,
        hashTag: 0x1402,
        chain: ['1101172974420830004'],
        form: 'octet',
      });

      const simple = await json('carrier update india --dlt 0x1501,0x1500 --dlt-form cstring');
      expect(simple.dlt).to.deep.equal({ entityTag: 0x1501, templateTag: 0x1500, form: 'cstring' });
      expect(await json('carrier update india --dlt off')).to.include({ dlt: 'off' });

      expect((await ops('carrier update india --dlt-form octet')).err).to.include('--dlt too');
      expect((await ops('carrier update india --dlt 0x0424,0x1401')).err).to.include('0x1400 to 0x3fff');
      expect((await ops('carrier update india --dlt 0x1400,0x1400')).err).to.include('each tag once');
      expect((await ops('carrier update india --dlt 0x1400,0x1401 --dlt-chain 1101172974420830004')).err).to.include(
        'a tag for the hash',
      );
      expect(await ops('carrier update india --dlt yes')).to.include({ code: 2 });
    });

    it('chain: gives an account telemarketers of its own at a carrier, shows and removes them', async () => {
      const id = await newAccount();
      const ids = '1101172974420820002,1101172974420830004';
      process.env.SMPP_PASSWORD = 'one';
      await json('carrier create chained --host smsc.example --port 2775 --system-id us');

      expect((await ops(`chain set ${id} nowhere --telemarketers ${ids}`)).err).to.include('There is no carrier');
      expect(await ops(`chain set ${id} chained --telemarketers 12`)).to.include({ code: 2 });
      await json(`chain set ${id} chained --telemarketers 1101172974420830004`);
      await json(`chain set ${id} chained --telemarketers ${ids}`);
      expect(await json(`chain list ${id}`)).to.deep.equal([{ carrier: 'chained', telemarketers: ids.split(',') }]);
      await json(`chain remove ${id} chained`);
      expect(await json(`chain list ${id}`)).to.deep.equal([]);
      expect((await ops(`chain remove ${id} chained`)).err).to.include('no chain of its own');
    });

    it('can be paused and resumed', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await ops('carrier create gamma --host smsc.example --port 2775 --system-id us');

      await json('carrier pause gamma');
      expect((await ops('carrier list')).out).to.match(/gamma +paused/);
      await json('carrier resume gamma');
      expect((await ops('carrier list')).out).to.match(/gamma +active/);
    });

    it('that exists already, or does not exist, is told', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await ops('carrier create delta --host smsc.example --port 2775 --system-id us');

      const twice = await ops('carrier create delta --host smsc.example --port 2775 --system-id us');

      expect(twice).to.include({ code: 1 });
      expect(twice.err).to.include('exists already');
      expect((await ops('carrier pause none')).err).to.include('`carrier list` shows them');
      expect(await ops('carrier update delta')).to.include({ code: 1 });
    });
  });

  describe('webhook', () => {
    const allowed = { WEBHOOK_ALLOW_HTTP: 'yes', WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8' };

    it('is created with a secret that is shown once, disabled and enabled', async () => {
      const account = await newAccount();
      const made = await json(`webhook create ${account} http://127.0.0.1:9/hook --events message.sent`, allowed);

      expect(made.secret).to.match(/^whsec_/);
      const listed = await ops(`webhook list ${account}`);
      expect(listed.out).to.include(String(made.webhook)).and.not.to.include('whsec_');
      const again = await json(`webhook create ${account} http://127.0.0.1:9/hook`, allowed);
      expect(again).to.include({ webhook: made.webhook, created: false }).and.not.to.have.property('secret');
      await json(`webhook disable ${made.webhook}`);
      expect((await ops(`webhook list ${account}`)).out).to.include('disabled (operator)');
      await json(`webhook enable ${made.webhook}`);
      expect((await ops(`webhook list ${account}`)).out).to.match(/ active /);
    });

    it('gets again what it missed since a time, and only when it is enabled', async () => {
      const account = await newAccount();
      const url = 'http://127.0.0.1:9/missed';
      await json(`webhook create ${account} ${url}`, allowed);
      const endpoint = present(await store.db.collection<EndpointDocument>('endpoints').findOne({ url }))._id;
      const missed = makeDelivery({ endpoint, state: 'exhausted' });
      const got = makeDelivery({ endpoint, state: 'done' });
      await store.db.collection<DeliveryDocument>('deliveries').insertMany([missed, got]);
      const line = `webhook replay ${endpoint} --since ${new Date(missed.createdAt.getTime() - 1).toISOString()}`;

      await json(`webhook disable ${endpoint}`);
      expect((await ops(line)).err).to.include('is disabled');
      await json(`webhook enable ${endpoint}`);
      expect(await json(line)).to.include({ replayed: 1 });

      const states = await store.db.collection('deliveries').find({ endpoint }).project({ state: 1, _id: 0 }).toArray();
      expect(states.map(({ state }) => state)).to.have.members(['due', 'done']);
      expect(await ops(`webhook replay ${endpoint}`)).to.include({ code: 2 });
    });

    it('gets one event again, also one that it acknowledged', async () => {
      const account = await newAccount();
      await json(`webhook create ${account} http://127.0.0.1:9/again`, allowed);
      const { _id: endpoint } = present(
        await store.db.collection<EndpointDocument>('endpoints').findOne({ account: account as AccountId }),
      );
      const event = eventId(newId('msg'), 'delivered');
      const got = makeDelivery({ _id: deliveryId(event, endpoint), endpoint, eventId: event, state: 'done' });
      await store.db.collection<DeliveryDocument>('deliveries').insertOne(got);

      expect(await json(`webhook replay-event ${endpoint} ${got.eventId}`)).to.include({ event: got.eventId });

      const after = await store.db.collection<DeliveryDocument>('deliveries').findOne({ _id: got._id });
      expect(after).to.include({ state: 'due' });
      // On its way now.
      expect(await ops(`webhook replay-event ${endpoint} ${got.eventId}`)).to.include({ code: 1 });
      expect(await ops(`webhook replay-event ${endpoint} nonsense`)).to.include({ code: 2 });
    });

    it('changes its secret, which is shown once', async () => {
      const account = await newAccount();
      const made = await json(`webhook create ${account} http://127.0.0.1:9/rotated`, allowed);

      const rotated = await json(`webhook rotate ${made.webhook}`);

      expect(rotated.secret)
        .to.match(/^whsec_/)
        .and.not.equal(made.secret);
      expect((await ops(`webhook list ${account}`)).out).not.to.include('whsec_');
      await json(`webhook remove ${made.webhook}`);
      expect(await ops(`webhook rotate ${made.webhook}`)).to.include({ code: 1 });
    });

    it('is removed, which makes room for another and forgets its secret', async () => {
      const account = await newAccount();
      const made = [];
      for (let i = 0; i < 10; i++) {
        made.push(await json(`webhook create ${account} http://127.0.0.1:9/${i}`, allowed));
      }
      expect(await ops(`webhook create ${account} http://127.0.0.1:9/10`, allowed)).to.include({ code: 1 });

      await json(`webhook remove ${made[3]?.webhook}`);

      expect(await json(`webhook create ${account} http://127.0.0.1:9/10`, allowed)).to.include({ created: true });
      expect(await ops(`webhook remove ${made[3]?.webhook}`)).to.include({ code: 1 });
      await json(`webhook remove ${made[4]?.webhook}`);
      const again = await json(`webhook create ${account} http://127.0.0.1:9/4`, allowed);
      expect(again.secret)
        .to.match(/^whsec_/)
        .and.not.to.equal(made[4]?.secret);
    });

    it('on http or a private address is refused with the reason and the setting', async () => {
      const account = await newAccount();

      const http = await ops(`webhook create ${account} http://127.0.0.1:9/hook`);
      const local = await ops(`webhook create ${account} https://127.0.0.1:9/hook`);
      const { out } = await ops('webhook create --help');

      expect(http.err).to.include('is refused. The url must begin with https://. See `webhook create --help`.');
      expect(local.err).to.include('is refused. The url leads to a private or reserved address.');
      expect(out).to.include('WEBHOOK_ALLOW_HTTP').and.to.include('WEBHOOK_ALLOW_SUBNETS');
    });
  });

  describe('ledger', () => {
    it('of an account is shown newest first', async () => {
      const account = await newAccount();
      await ops(`credits top-up ${account} 500 --id first`);
      await ops(`credits top-up ${account} 7 --id second`);

      const { out } = await ops(`ledger show ${account} --json`);

      expect(
        JSON.parse(out).map((entry: { seq: number; balance_after: number }) => [entry.seq, entry.balance_after]),
      ).to.deep.equal([
        [2, 507],
        [1, 500],
      ]);
    });

    it('goes on below a number, says how, and is shown to its end', async () => {
      const account = await newAccount();
      for (let n = 1; n <= 5; n++) await ops(`credits top-up ${account} ${n} --id ${n}`);
      const seqs = (out: string) => out.split('\n').flatMap((line) => /^(\d+) +\d{4}-/.exec(line)?.[1] ?? []);

      const first = await ops(`ledger show ${account} --limit 2`);
      expect(seqs(first.out)).to.deep.equal(['5', '4']);
      const [, more = ''] = /There are 3 older ones: (ledger show .*), or --all\./.exec(first.out) ?? [];
      const second = await ops(more);
      expect(seqs(second.out)).to.deep.equal(['3', '2']);
      expect((await ops(`ledger show ${account} --before 2`)).out).to.not.include('older');
      expect((await ops(`ledger show ${account} --before 1`)).out).to.include('none with a number below 1');

      expect(seqs((await ops(`ledger show ${account} --all`)).out)).to.deep.equal(['5', '4', '3', '2', '1']);
      const lines = (await ops(`ledger show ${account} --all --json`)).out.trim().split('\n');
      expect(lines.map((line) => JSON.parse(line).seq)).to.deep.equal([5, 4, 3, 2, 1]);
    });

    it('names the schedule that a debit paid for', async () => {
      const account = await newAccount();
      await ops(`credits top-up ${account} 5`);
      const schedules = [newId('sch'), newId('sch')];
      const accounts = store.db.collection<AccountDocument>('accounts');
      const debit = { seq: 2, amount: -2, balanceAfter: 3, reason: 'send', at: new Date(), schedules } as const;
      await accounts.updateOne({ _id: account as AccountId }, { $set: { seq: 2, balance: 3, 'pending.grp_1': debit } });

      expect((await ops(`ledger show ${account}`)).out).to.include(`${schedules[0]} and 1 more schedules (grp_1)`);
    });

    it('that is whole verifies; one that was tampered with makes the exit code 1', async () => {
      const account = await newAccount();
      await ops(`credits top-up ${account} 500`);

      expect(await ops(`ledger verify --account ${account}`)).to.include({ code: 0 });
      await store.db.collection('ledger').updateOne({ account }, { $set: { amount: 400 } });
      const broken = await ops('ledger verify');

      expect(broken.code).to.equal(1);
      expect(broken.out).to.include('ledgers ARE BROKEN').and.to.include('seq 1: 0 + 400 is not 500');
    });
  });

  describe('as a program', () => {
    it('answers on stdout, says what is wrong on stderr, and tells by its exit code', async () => {
      const listed = await program(['account', 'list', '--json'], env);
      const typo = await program(['acount', 'list'], env);

      expect(listed).to.include({ code: 0, err: '' });
      expect(JSON.parse(listed.out)).to.be.an('array');
      expect(typo).to.include({ code: 2, out: '' });
      expect(typo.err).to.include('There is no "acount"');
    });

    it('takes a password from stdin', async () => {
      const words = [
        'carrier',
        'create',
        'stdin',
        '--host',
        'h',
        '--port',
        '1',
        '--system-id',
        'us',
        '--password-stdin',
      ];

      expect(await program(words, env, 'from-stdin\n')).to.include({ code: 0 });

      const stored = await store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'stdin' });
      expect(createSecretBox(loadSecretKey('', dataDir)).open(stored?.password ?? '')).to.equal('from-stdin');
    });

    it('without a store says in one sentence what to do', async () => {
      const { code, err } = await program(['account', 'list'], { MONGODB_URI: '', HARKARA_DATA_DIR: dataDir });

      expect(code).to.equal(1);
      expect(err).to.equal(
        `No embedded store is running in ${dataDir}: start the product first (npm start, or PM2), or set MONGODB_URI.\n`,
      );
    });
  });
});

function program(words: readonly string[], env: Record<string, string>, stdin = ''): Promise<Ran> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/ops/main.ts', ...words], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk;
  });
  child.stdin.end(stdin);
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? -1, ...said }));
  });
}
