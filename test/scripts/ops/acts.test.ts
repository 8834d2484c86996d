import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ENDPOINTS } from '../../../gateway/endpoints/list.ts';
import { COMMANDS, runOps } from '../../../scripts/ops/run.ts';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { listOptIns } from '../../../shared/carriers/chat-opt-in-store.ts';
import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { createSender } from '../../../shared/carriers/sender.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { loadConfig } from '../../../shared/platform/config/settings.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { createSecretBox, loadSecretKeys } from '../../../shared/platform/runtime/secret-box.ts';
import { makeMessage } from '../../support/make.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

const NOBODY = 'acc_00000000000000000000000000';

/** The endpoints' checks have their own tests; these are about how their commands are called and what they show. */
describe('npm run ops: commands that are endpoints', () => {
  const world = use(() =>
    OpsWorld.open({ HARKARA_WEBHOOK_ALLOW_HTTP: 'yes', HARKARA_WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8' }),
  );
  let account: string;
  before(async () => {
    process.env.HARKARA_SMPP_PASSWORD = 'pa55word';
    account = await world.newAccount();
    await world.json('carrier create acme --host smsc.example --port 2775 --system-id us');
  });
  after(async () => {
    delete process.env.HARKARA_SMPP_PASSWORD;
  });
  const run = (line: string) => world.run(line);
  const out = async (line: string) => {
    const { code, out, err } = await run(line);
    expect({ code, err }, line).to.deep.equal({ code: 0, err: '' });
    return out;
  };
  const refused = async (line: string) => {
    const { code, err } = await run(line);
    return `${code} ${err}`;
  };

  it('there is one for every endpoint of operators, and each shows its help', async () => {
    const lines = COMMANDS.filter(({ isEndpoint }) => isEndpoint).map(({ noun, verb }) => [noun, verb]);
    for (const words of lines) {
      let help = '';
      const terminal = {
        out(text: string) {
          help += text;
        },
        err: () => {},
      };
      expect(await runOps([...words, '--help'], terminal, () => loadConfig(world.env)), words.join(' ')).to.equal(0);
      expect(help).to.include(`ops -- ${words.join(' ')}`);
    }
    const answered = ENDPOINTS.filter(
      ({ path, handle, action }) => path.startsWith('/v2/admin/') && (handle ?? action),
    );
    expect(lines).to.have.length.above(answered.length);
  });

  it('an account is made, shown, changed and held; what it lacks is said with the command that mends it', async () => {
    const made = await run('account create --name Bank --dlt on');
    expect(made.out).to.match(/^name +Bank$/m);
    expect(made.out).to.match(/Created\. Next: npm run ops -- credits top-up acc_/);
    expect(made.out).to.match(/^settings\.number check +on$/m);
    expect(await out('account list')).to.match(/^acc_\w+ +active +0 +INR +\S+ +Bank$/m);
    const [, bank] = /^account id +(\S+)$/m.exec(made.out) ?? [];
    expect(await out(`account show ${bank}`)).to.include(`It cannot send without a PE id: account update ${bank}`);
    await out(`account update ${bank} --entity-id 1101456789012345678 --key-per-minute 50 --opt-out-exempt otp`);
    const { settings } = await world.json(`account show ${bank}`);
    expect(settings).to.deep.include({ entity_id: '1101456789012345678', key_per_minute: 50, opt_out_exempt: ['otp'] });
    expect(await out(`account update ${bank} --opt-out-exempt none`)).to.match(/^settings\.opt out exempt +-$/m);
    expect(await out(`account suspend ${bank}`)).to.equal(`${bank} is suspended.\n`);
    expect(await refused(`account pause ${bank}`)).to.match(/^2 --status: The account is suspended/);
    await out(`account resume ${bank}`);
    expect(await refused(`account show ${NOBODY}`)).to.include(
      '1 Not done: Check the account_id: `account list` lists them.',
    );
    expect(await refused('account create --name X --currency EURO')).to.match(
      /^2 --currency: It must be a currency code/,
    );
  });

  it('credits are added and corrected once for each id', async () => {
    const line = `credits top-up ${account} 500 --id invoice-7`;
    expect(await out(line)).to.equal('Added 500 credits (id invoice-7). Balance: 500.\n');
    expect(await out(line)).to.equal('Nothing added: id invoice-7 was added before. Balance: 500.\n');
    expect(await refused(`credits top-up ${account} 700 --id invoice-7`)).to.match(/^1 Not done: /);
    expect(await out(`credits correct ${account} -200 --id twice --reason booked`)).to.include('Took 200 credits');
    expect(await refused(`credits correct ${account} -301 --id x --reason y`)).to.match(
      /^2 <amount>: The account has 300/,
    );
    const told = await run(`credits top-up ${account} 5`);
    const [, id] = /--id (\S+)\.$/m.exec(told.err) ?? [];
    expect(await out(`credits top-up ${account} 5 --id ${id}`)).to.include('Nothing added');
    expect(await out(`credits list ${account}`)).to.match(/-200 +300 +correction +twice +booked +ops \S+@/);
    for (const amount of ['0', 'ten', '1.5']) {
      expect(await refused(`credits top-up ${account} ${amount} --id z`), amount).to.match(/^2 <amount>/);
    }
  });

  it('a sender is given, decided and listed; what the account asked for itself is approved as it was read', async () => {
    expect(await out(`sender create ${account} HARKRA --routes transactional`)).to.match(
      /^HARKRA is approved \(snd_\w+\) for transactional\.$/m,
    );
    const owner = account as AccountId;
    const asked = {
      account: owner,
      sender: 'ASKED',
      routes: ['promotional'],
      status: 'submitted',
      requested: true,
    } as const;
    const { _id } = await createSender(world.store.db, systemClock, asked);
    expect(await refused(`sender approve ${account} ASKED`)).to.match(/^2 --id: The account asked for it itself/);
    expect(await out(`sender approve ${account} ASKED --id ${_id}`)).to.equal('ASKED is approved.\n');
    await out(`sender reject ${account} HARKRA --reason gone`);
    expect(await out(`sender list ${account}`)).to.match(/^HARKRA +rejected +transactional +gone +snd_\w+$/m);
  });

  it('messages of all accounts are found and shown', async () => {
    const { _id, ...message } = makeMessage({ account: account as AccountId, to: '919876543210' });
    await world.store.db.collection<MessageDocument>('messages').insertOne({ _id, ...message });
    const found = await out('message find 9876543210');
    expect(found, _id).to.match(new RegExp(`^${_id} .* queued +919876543210 .* ${account} +Shop$`, 'm'));
    expect(await out(`message show ${_id}`)).to.include('TIMELINE');
    expect(await refused('message show msg_00000000000000000000000000')).to.match(/^1 Not done: /);
    const { code, out: wrong } = await run('status');
    expect({ code, wrong }).to.deep.include({ code: 1 });
    expect(wrong).to.match(/^urgent .*\nNo process looks/ms);
  });

  it('numbers belong to somebody, and are taken away', async () => {
    expect(await out(`number add 56161 ${account} --keyword vote`)).to.include(
      'messages that begin with "vote" to 56161',
    );
    expect(await refused(`number add 56161 ${account} --keyword vote`)).to.match(/^2 <number>: It belongs to acc_/);
    expect(await out('number show 56161')).to.match(/^56161 +vote +acc_/m);
    expect(await out(`number list --account ${account}`)).to.match(/^56161 +vote/m);
    expect(await out('number remove 56161 --keyword vote')).to.equal('56161 vote belongs to nobody now.\n');
    expect(await out('inbound list --text')).to.equal('There are none.\n');
  });

  it('carriers take settings as options, certificates from files, and the password never', async () => {
    const stored = () => world.store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'acme' });
    const box = createSecretBox(loadSecretKeys('', world.dir));
    expect(box.open((await stored())?.password ?? '', ['carriers', 'acme', 'password'])).to.equal('pa55word');
    await out('carrier update acme --window-size 9 --dlt 0x1400,0x1401 --long-text sar');
    expect(await stored()).to.deep.include({ windowSize: 9, texts: { longText: 'sar' } });
    const shown = await out('carrier show acme');
    expect(shown).to.match(/^--window-size +9 +\* /m);
    expect(shown).to.match(/^--dlt +0x1400,0x1401 +\* /m);
    expect(shown).not.to.match(/pa55word|v1\./);
    writeFileSync(join(world.dir, 'not.pem'), 'no certificate');
    expect(await refused(`carrier update acme --tls-ca ${join(world.dir, 'not.pem')}`)).to.match(
      /^2 --tls-ca: It must be/,
    );
    expect(await refused('carrier update acme --window-size 0 --port x')).to.match(/--port: .*\n--window-size: /s);
    expect(await refused('carrier update acme')).to.equal('1 Nothing to change: see `carrier update --help`.\n');
    expect(await refused('carrier create acme --host a --port 1 --system-id b')).to.match(
      /^1 Not done: There is a carrier/,
    );
    expect(await out('carrier list')).to.match(/^acme +active +smsc\.example +2775 +no +us +9 .*held by no process/m);
    expect(await refused('carrier remove acme')).to.match(/^1 Not done: It is active/);
    const { code, out: tried } = await run('carrier test-bind --carrier acme --host 127.0.0.1 --port 9 --password');
    expect({ code, tried }).to.deep.include({ code: 1 });
    expect(tried).to.include('NO  bind: no answer');
    await out(`chain set ${account} acme --telemarketers 1302000000001,1302000000002`);
    expect(await out(`chain list ${account}`)).to.match(/^acme +1302000000001,1302000000002$/m);
  });

  it('routes are written in one line, changed in part, and explained', async () => {
    expect(await out('route add india --country IN --carriers acme:70 --price 0.12 --wait-seconds 5')).to.match(
      /^india is added: country IN → acme, the next one after 5 s, sold for 0\.12\.\nWhat no route matches/,
    );
    expect(await refused('route add india --carriers acme')).to.match(/^1 Not added: route "india" exists/);
    await out('route set india --country any --order 3 --price none --costs acme=0.10');
    const [route] = await world.json('route list');
    expect(route).to.deep.include({ matches: {}, order: 3, price: null, costs: { acme: '0.10' }, wait_seconds: 5 });
    expect(await refused('route add x --carriers nobody')).to.match(/^2 --carriers: .*nobody/);
    expect(await refused('route set y --order 1')).to.match(/^1 There is no route "y"/);
    expect(await out(`route explain 919876543210 --account ${account}`)).to.match(/ {2}1\. acme: down/);
    expect(await out('route remove india')).to.equal('india is removed.\n');
  });

  it('a chat-app number asks for its secrets, and shows the verify token once', async () => {
    const set = 'provider set 918000000001';
    const good = `--account ${account} --base-url https://graph.example/v23.0 --phone-number-id 1 --business-id 2`;
    expect(await refused(`${set} ${good}`)).to.match(/--token-stdin/);
    Object.assign(process.env, { HARKARA_CHATAPP_TOKEN: 'EAAtoken', HARKARA_CHATAPP_APP_SECRET: 'appsecret' });
    try {
      const made = await out(`${set} ${good}`);
      const found = await findProvider(world.store.db, '918000000001');
      expect(made)
        .to.match(/^verify token {2}\S{32}$/m)
        .and.include(`/chatapp/callback/${found?.callback}`);
      expect(made).not.to.match(/EAAtoken|appsecret/);
      expect(await out(`${set} --per-second 40`)).not.to.include('verify token');
      expect(await out('provider list')).to.match(/^acc_\w+ +918000000001 +\w+ +active +off +https:/m);
      await out('provider pause 918000000001');
      expect((await world.json('provider show 918000000001')).condition).to.equal('paused');
    } finally {
      delete process.env.HARKARA_CHATAPP_TOKEN;
      delete process.env.HARKARA_CHATAPP_APP_SECRET;
    }
  });

  it('opt-ins are added by word and by file', async () => {
    expect(await out(`opt-in add ${account} 919876543210,919876543211`)).to.equal(
      '2 on the list now, 0 were before.\n',
    );
    const file = join(world.dir, 'customers.txt');
    writeFileSync(file, '919876543212\nRavi\n');
    expect(await refused(`opt-in import ${account} ${file}`)).to.match(
      /^1 Nothing was imported\. Bad lines: 1\.\nline 2: /,
    );
    writeFileSync(file, '919876543210\n+91 98765-43213 # shop\n');
    expect(await world.json(`opt-in import ${account} ${file}`)).to.deep.equal({ added: 1, known: 1 });
    await out(`opt-in remove ${account} 919876543210`);
    expect(await listOptIns(world.store.db, account as AccountId, 10)).to.have.length(2);
    expect(await out(`opt-in list ${account} --limit 1`)).to.match(
      /^919876543211 .*\nThere are more: --cursor \S+\n$/ms,
    );
  });

  describe('webhooks', () => {
    let server: Server;
    let url: string;
    before(async () => {
      server = createServer((req, res) => void req.resume().on('end', () => res.writeHead(503).end('bu\u001b[2Jsy')));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    });
    after(() => server.close());

    it('are found without their account, tested, held and removed', async () => {
      const [id = '', secret] = (await out(`webhook create ${account} ${url}`)).split('\n');
      expect(secret).to.match(/^whsec_/);
      const tested = await run(`webhook test ${id}`);
      expect(tested).to.include({ code: 1 });
      expect(tested.out).to.match(/503, \d+ ms\)\nbu \[2Jsy\n/);
      expect(await out(`webhook disable ${id}`)).to.equal(`${id} is disabled.\n`);
      expect(await out(`webhook list ${account}`)).to.match(/disabled +Your service provider disabled it\./);
      expect(await refused(`webhook replay ${id} --since 2026-01-01T00:00:00Z`)).to.match(/^1 Not done: /);
      await out(`webhook enable ${id}`);
      expect(await out(`webhook rotate ${id}`)).to.match(/^whsec_.*\nKeep it now.*both signatures\.$/m);
      await out(`webhook remove ${id}`);
      expect(await refused(`webhook test ${id}`)).to.match(/^1 There is no webhook whk_/);
      expect(await refused(`webhook create ${account} http://10.0.0.1/`)).to.match(/^1 <url>: /);
    });
  });
});
