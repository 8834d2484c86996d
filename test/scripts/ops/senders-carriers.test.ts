import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { createSender, removeSender } from '../../../shared/carriers/sender-store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { createSecretBox } from '../../../shared/platform/runtime/secret-box.ts';
import { loadSecretKeys } from '../../../shared/platform/runtime/secret-keys.ts';
import { OpsWorld } from '../../support/ops-world.ts';

describe('npm run ops: senders and carriers', () => {
  let world: OpsWorld;
  before(async () => {
    world = await OpsWorld.open();
  });
  after(() => world.close());

  describe('sender', () => {
    it('is registered once', async () => {
      const account = await world.newAccount();

      await world.json(`sender create ${account} HARKRA --routes transactional`);
      const again = await world.run(`sender create ${account} HARKRA`);

      expect(again).to.include({ code: 1, err: `HARKRA is registered to ${account} already.\n` });
      expect((await world.run(`sender list ${account}`)).out).to.match(/HARKRA +approved +transactional/);
    });

    it('is submitted, approved and rejected', async () => {
      const account = await world.newAccount();
      const listed = async (): Promise<string> => (await world.run(`sender list ${account}`)).out;

      await world.json(`sender create ${account} HARKRA --status submitted`);
      expect(await listed()).to.match(/HARKRA +submitted/);
      await world.json(`sender approve ${account} HARKRA`);
      expect(await listed()).to.match(/HARKRA +approved/);
      await world.json(`sender reject ${account} HARKRA`);
      expect(await listed()).to.match(/HARKRA +rejected/);
      expect((await world.run(`sender approve ${account} OTHERS`)).err).to.include('has no sender OTHERS');
    });

    it('that the account asked for itself is approved as it was read, by its id', async () => {
      const account = (await world.newAccount()) as AccountId;
      const wanted = { account, sender: 'HARKRA', status: 'submitted', requested: true } as const;
      const ask = async (routes: readonly ('promotional' | 'transactional')[]) =>
        (await createSender(world.store.db, systemClock, { ...wanted, routes }))._id;
      const read = await ask(['promotional']);
      expect((await world.run(`sender list ${account}`)).out).to.include(read);
      expect((await world.run(`sender approve ${account} HARKRA`)).err)
        .to.include(`promotional`)
        .and.include(read);

      await removeSender(world.store.db, account, read);
      const now = await ask(['promotional', 'transactional']);
      const late = await world.run(`sender approve ${account} HARKRA --id ${read}`);

      expect(late).to.include({ code: 1 });
      expect(late.err).to.include('asked for again');
      expect((await world.run(`sender list ${account}`)).out).to.match(/HARKRA +submitted/);
      await world.json(`sender approve ${account} HARKRA --id ${now}`);
      expect((await world.run(`sender list ${account}`)).out).to.match(/HARKRA +approved/);
    });

    it('of a form that cannot travel is refused', async () => {
      expect(await world.run(`sender create ${await world.newAccount()} TWELVE-CHARS`)).to.include({ code: 2 });
    });
  });

  describe('carrier', () => {
    afterEach(() => {
      delete process.env.SMPP_PASSWORD;
    });

    it('is created with the defaults, its password sealed and never shown', async () => {
      process.env.SMPP_PASSWORD = 'pa55word';

      const made = await world.run('carrier create acme --host smsc.example --port 2775 --system-id us --json');
      const listed = await world.run('carrier list --json');

      const stored = await world.store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'acme' });
      const box = createSecretBox(loadSecretKeys('', world.dir));
      expect(JSON.parse(made.out)).to.include({ carrier: 'acme', name: 'acme', windowSize: 50, tls: false });
      expect(box.open(stored?.password ?? '', ['carriers', stored?._id ?? '', 'password'])).to.equal('pa55word');
      for (const said of [made.out, listed.out]) expect(said).not.to.match(/pa55word|password/);
    });

    it('keeps in an update what is not named', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await world.run('carrier create beta --host smsc.example --port 2775 --system-id us --window-size 10');

      delete process.env.SMPP_PASSWORD;
      const updated = await world.json('carrier update beta --per-second 100 --paths promotional');

      expect(updated).to.deep.include({ windowSize: 10, perSecond: 100, paths: ['promotional'] });
      const stored = await world.store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'beta' });
      expect(
        createSecretBox(loadSecretKeys('', world.dir)).open(stored?.password ?? '', [
          'carriers',
          stored?._id ?? '',
          'password',
        ]),
      ).to.equal('one');
    });

    it('is named by an account with DLT if it sends without the ids of DLT', async () => {
      process.env.SMPP_PASSWORD = 'one';
      const id = await world.newAccount();
      const without = async () => (await world.json(`account show ${id}`)).carriers_without_dlt;
      for (const name of ['plain', 'indian']) {
        await world.json(`carrier create ${name} --host smsc.example --port 2775 --system-id us`);
      }
      await world.json('carrier update indian --dlt 0x1400,0x1401');

      expect(await without()).to.deep.equal([]);
      await world.json(`account update ${id} --dlt on`);
      expect(await without())
        .to.include('plain')
        .and.not.include('indian');
      const { out } = await world.run(`account show ${id}`);
      expect(out).to.match(/senders +registered \(DLT\)/);
      expect(out).to.include('carrier update plain --dlt TAGS');
    });

    it('keeps what differs from the defaults in groups, and shows every setting', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await world.run(
        'carrier create latin --host smsc.example --port 2775 --system-id us --alphabet latin1 --source-short 2/1 --tlvs 0x1403:string:40410',
      );

      const updated = await world.json('carrier update latin --long-text sar --tlvs none');
      const told = await world.run('carrier update latin --status-class 0x58=failover --window-size 20 --password');

      expect(updated).to.deep.include({
        texts: { alphabet: 'latin1', longText: 'sar' },
        addresses: { sourceShort: { ton: 2, npi: 1, digits: 'plain' } },
        submits: { tlvs: [] },
      });
      expect(told.out).to.equal('latin is updated: --window-size, --status-class, --password.\n');
      expect((await world.run('carrier update latin --receiver-hosts smsc.example:2776')).err).to.match(
        /^Refused\. --receiver-hosts: only with/,
      );
      expect((await world.run('carrier update latin --tls no')).out).to.equal('latin is updated: --tls.\n');
      const { out } = await world.run('carrier show latin');
      expect(out).to.match(/--alphabet +latin1 +\* /);
      expect(out).to.match(/--source-name +5\/0 +a sender that is a name/);
      expect(out).to.match(/--dlt +off/);
      expect(out).not.to.include('password');
      const refused = await world.run('carrier update latin --interface-version 3.3');
      expect(refused).to.include({ code: 1 });
      expect(refused.err).to.include('--long-text: with interface_version 3.3 no TLV can be sent.');
      expect(await world.run('carrier update latin --alphabet utf8')).to.include({ code: 2 });
    });

    it('takes a pair once: of two only one would count', async () => {
      process.env.SMPP_PASSWORD = 'one';
      const create = 'carrier create pairs --host smsc.example --port 2775 --system-id us';
      const twice = await world.run(`${create} --rewrite-recipient 910=91,00=,910=`);
      expect(twice).to.deep.include({
        code: 1,
        err: 'Refused. --rewrite-recipient: each once, but 910 is given more than once.\n',
      });
      await world.json(create);

      for (const [option, value, said] of [
        ['--rewrite-sender', 'OLD=NEW,OLD=NEWER', 'OLD'],
        ['--receipt-word', 'DND=rejected,dnd=failed', 'DND'],
        ['--status-class', '0x58=retry,0x0058=fail', '0x58'],
      ]) {
        const { code, err } = await world.run(`carrier update pairs ${option} ${value}`);
        expect([code, err]).to.deep.equal([1, `Refused. ${option}: each once, but ${said} is given more than once.\n`]);
      }

      const carriers = world.store.db.collection<CarrierDocument>('carriers');
      const rule = { prefix: 'OLD', replacement: 'NEW' };
      await carriers.updateOne({ _id: 'pairs' }, { $set: { addresses: { rewriteSender: [rule, rule] } } });
      expect(await world.json('carrier update pairs --country 91')).to.deep.include({
        addresses: { rewriteSender: [rule, rule], country: '91' },
      });
    });

    it('reads certificates and their key from files; the key is sealed and never shown', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await world.run('carrier create secure --host smsc.example --port 2775 --system-id us --tls yes');
      const [certFile, keyFile] = ['test/fixtures/tls/client.pem', 'test/fixtures/tls/client.key'];

      const half = await world.run(`carrier update secure --tls-certificate ${certFile}`);
      const other = await world.run(
        `carrier update secure --tls-certificate ${certFile} --tls-key test/fixtures/tls/server.key`,
      );
      const made = await world.run(`carrier update secure --tls-certificate ${certFile} --tls-key ${keyFile} --json`);
      const later = await world.run(`carrier update secure --tls-host-name unchecked --json`);

      expect(half.err).to.include('needs its own key');
      expect(other.err).to.include('not another one');
      const stored = await world.store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'secure' });
      expect(
        createSecretBox(loadSecretKeys('', world.dir)).open(stored?.trust?.tlsKey ?? '', [
          'carriers',
          stored?._id ?? '',
          'trust.tlsKey',
        ]),
      ).to.equal(readFileSync(keyFile, 'utf8'));
      expect(JSON.parse(later.out).trust).to.include({ tlsKey: 'set', tlsHostName: 'unchecked' });
      for (const said of [made.out, later.out, (await world.run('carrier show secure')).out]) {
        expect(said).to.include('CN=').and.not.to.include('PRIVATE KEY').and.not.to.include('v1.');
      }
      expect((await world.run(`carrier update secure --tls-ca ${keyFile}`)).err).to.include('a PEM file');
      expect((await world.run('carrier update secure --tls-ca /no/such/file')).err).to.include('cannot be read');
    });

    it('gets the ids of DLT under its own tags, until it is told off', async () => {
      process.env.SMPP_PASSWORD = 'one';
      const made = await world.json(
        'carrier create india --host smsc.example --port 2775 --system-id us --dlt 0x1400,0x1401,0x1402 --dlt-chain 1101172974420830004',
      );
      expect(made.dlt).to.deep.equal({
        entityTag: 0x1400,
        templateTag: 0x1401,
        hashTag: 0x1402,
        chain: ['1101172974420830004'],
        form: 'octet',
      });

      const form = await world.json('carrier update india --dlt 0x1400,0x1401,0x1403 --dlt-form cstring');
      expect(form.dlt).to.deep.equal({ ...made.dlt, hashTag: 0x1403, form: 'cstring' });
      const tags = await world.json('carrier update india --dlt 0x1500,0x1501,0x1502');
      expect(tags.dlt).to.include({ hashTag: 0x1502, form: 'cstring' }).and.to.deep.include({ chain: made.dlt.chain });
      const ended = await world.json('carrier update india --dlt 0x1500,0x1501,0x1502 --dlt-chain none');
      expect(ended.dlt).not.to.have.property('chain');
      await world.json('carrier update india --dlt 0x1500,0x1501,0x1502 --dlt-chain 1101172974420830004');

      const simple = await world.json('carrier update india --dlt 0x1501,0x1500 --dlt-form cstring');
      expect(simple.dlt).to.deep.equal({ entityTag: 0x1501, templateTag: 0x1500, form: 'cstring' });
      expect(await world.json('carrier update india --dlt off')).to.include({ dlt: 'off' });

      expect((await world.run('carrier update india --dlt-form octet')).err).to.include('--dlt too');
      expect((await world.run('carrier update india --dlt 0x0424,0x1401')).err).to.include('0x1400 to 0x3fff');
      expect((await world.run('carrier update india --dlt 0x1400,0x1400')).err).to.include('each tag once');
      expect(
        (await world.run('carrier update india --dlt 0x1400,0x1401 --dlt-chain 1101172974420830004')).err,
      ).to.include('a tag for the hash');
      expect(await world.run('carrier update india --dlt yes')).to.include({ code: 2 });
    });

    it('chain: gives an account telemarketers of its own at a carrier, shows and removes them', async () => {
      const id = await world.newAccount();
      const ids = '1101172974420820002,1101172974420830004';
      process.env.SMPP_PASSWORD = 'one';
      await world.json('carrier create chained --host smsc.example --port 2775 --system-id us');

      expect((await world.run(`chain set ${id} nowhere --telemarketers ${ids}`)).err).to.include('There is no carrier');
      expect(await world.run(`chain set ${id} chained --telemarketers 12`)).to.include({ code: 2 });
      await world.json(`chain set ${id} chained --telemarketers 1101172974420830004`);
      await world.json(`chain set ${id} chained --telemarketers ${ids}`);
      expect(await world.json(`chain list ${id}`)).to.deep.equal([
        { carrier: 'chained', telemarketers: ids.split(',') },
      ]);
      await world.json(`chain remove ${id} chained`);
      expect(await world.json(`chain list ${id}`)).to.deep.equal([]);
      expect((await world.run(`chain remove ${id} chained`)).err).to.include('no chain of its own');
    });

    it('can be paused and resumed', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await world.run('carrier create gamma --host smsc.example --port 2775 --system-id us');

      await world.json('carrier pause gamma');
      expect((await world.run('carrier list')).out).to.match(/gamma +paused/);
      await world.json('carrier resume gamma');
      expect((await world.run('carrier list')).out).to.match(/gamma +active/);
    });

    it('that exists already, or does not exist, is told', async () => {
      process.env.SMPP_PASSWORD = 'one';
      await world.run('carrier create delta --host smsc.example --port 2775 --system-id us');

      const twice = await world.run('carrier create delta --host smsc.example --port 2775 --system-id us');

      expect(twice).to.include({ code: 1 });
      expect(twice.err).to.include('exists already');
      expect((await world.run('carrier pause none')).err).to.include('`carrier list` shows them');
      expect(await world.run('carrier update delta')).to.include({ code: 1 });
    });
  });
});
