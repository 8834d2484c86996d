import { writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { COMMANDS } from '../../../scripts/ops/run.ts';
import { type AuditDocument, beginEntry } from '../../../shared/people/audit.ts';
import { minuteAuditId } from '../../../shared/platform/runtime/ids.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

/** Verbs that change nothing. */
const LOOKS = ['list', 'show', 'settings', 'verify', 'check', '', 'explain', 'receipt-profiles', 'read-receipt'];
/**
 * Commands that need a running product, a carrier (carrier-test.test.ts), a receiver (webhooks.test.ts), their own
 * store (store.faults.test.ts), or a stopped store, which has no audit.
 */
const ELSEWHERE = [
  'carrier test',
  'secrets reseal',
  'store backup',
  'store restore',
  'store compact',
  // These write their own entries: store-move.faults.test.ts.
  'store export',
  'store import',
];
const SECRETS = {
  HARKARA_SMPP_PASSWORD: 'smpp-word',
  HARKARA_CHATAPP_TOKEN: 'chat-token',
  HARKARA_CHATAPP_APP_SECRET: 'chat-secret',
};

describe('the audit', () => {
  const world = use(() =>
    OpsWorld.open({ HARKARA_WEBHOOK_ALLOW_HTTP: 'yes', HARKARA_WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8' }),
  );
  let account: string;
  before(async () => {
    Object.assign(process.env, SECRETS);
    account = String((await ops('account create --name First')).account);
  });
  after(async () => {
    for (const name of Object.keys(SECRETS)) delete process.env[name];
  });

  const run = (line: string) => world.run(line);
  const ops = (line: string) => world.json(line);
  const entries = () => world.store.db.collection<AuditDocument>('audit').find().sort({ at: -1, _id: -1 }).toArray();
  async function newest(): Promise<AuditDocument> {
    const [entry] = await entries();
    if (entry === undefined) throw new Error('there is no entry');
    return entry;
  }

  it('has every change of every command, with who made it and the thing before and after, without secrets', async () => {
    const file = (name: string, text: string): string => {
      writeFileSync(join(world.dir, name), text);
      return join(world.dir, name);
    };
    const seen = new Map<string, AuditDocument>();
    const change = async (line: string): Promise<Readonly<Record<string, unknown>>> => {
      const before = (await entries()).length;
      const answer = await ops(line);
      const all = await entries();
      const entry = all[0];
      if (entry === undefined) throw new Error(line);
      const [noun, verb] = line.split(' ');
      const isEndpoint = COMMANDS.some((one) => one.noun === noun && one.verb === verb && one.isEndpoint);
      // Changes of one thing within a minute share their endpoint's entry, which names its own action.
      if (!isEndpoint) {
        expect(all, line).to.have.length(before + 1);
        expect(entry, line).to.deep.include({ action: `${noun}.${verb}` });
      }
      expect(entry, line).to.deep.include({ outcome: 'done' });
      expect(entry.actor).to.include({ kind: 'ops' });
      expect(entry.actor.id).to.include(userInfo().username).and.include(hostname());
      seen.set(`${noun} ${verb}`, entry);
      return answer;
    };

    await change('account create --name Second');
    await change(`account update ${account} --name Renamed`);
    expect((await newest()).before).to.include({ name: 'First' });
    expect((await newest()).after)
      .to.include({ name: 'Renamed' })
      .and.not.have.any.keys('balance', 'pending');
    await change(`credits top-up ${account} 50 --id invoice-1`);
    expect([(await newest()).before?.balance, (await newest()).after?.balance]).to.deep.equal([0, 50]);
    const key = await change(`key create ${account} --name server`);
    expect(await newest()).to.deep.include({ account, subject: { kind: 'key', id: key.id } });
    await change(`key update ${key.id} --allow-ip 203.0.113.0/24`);
    expect((await newest()).after?.allowedIps).to.deep.equal(['203.0.113.0/24']);
    const next = await change(`key rotate ${key.id}`);
    expect(await newest()).to.deep.include({ account, subject: { kind: 'key', id: key.id } });
    await change(`key revoke ${key.id}`);
    expect(await newest()).to.deep.include({ account, subject: { kind: 'key', id: key.id } });
    const end = new Date(Date.now() + 86_400_000).toISOString();
    const admin = await change(
      `operator-key create --name console --scopes admin:read --expires-at ${end} --allow-ip 203.0.113.7`,
    );
    await change(`operator-key revoke ${admin.id}`);
    expect(await newest()).to.deep.include({ subject: { kind: 'key', id: admin.id } });
    expect([(await newest()).before?.status, (await newest()).after?.status]).to.deep.equal(['active', 'revoked']);
    await change(`sender create ${account} HARKRA`);
    const content = file('templates.csv', TEMPLATES);
    await change(`template import ${account} ${content}`);
    await change(`template create ${account} 1007000000002 --content Hello --senders HARKRA --status submitted`);
    for (const verb of ['approve', 'pause', 'resume']) await change(`template ${verb} ${account} 1007000000002`);
    await change(`template create ${account} 1007000000003 --content Bye --senders HARKRA --status submitted`);
    await change(`template reject ${account} 1007000000003 --reason wrong`);
    await change('carrier create acme --host 127.0.0.1 --port 2775 --system-id us');
    const sealed = (await newest()).after?.password;
    await change('carrier update acme --password');
    expect((await newest()).before?.password).to.equal(sealed);
    expect((await newest()).after?.password)
      .to.match(/^hidden \([0-9a-f]{8}\)$/)
      .and.not.equal(sealed);
    await change(`opt-in add ${account} 919876543210`);
    await change('route add all --carriers acme');
    await change(`opt-out add ${account} 919876543210`);
    expect((await newest()).after).to.include({ customer: '9198******10', source: 'ops' });
    await change(`opt-out remove ${account} 919876543210`);
    await change(`opt-out import ${account} ${file('opt-outs.csv', 'customer,number\n919876543211,56161\n')}`);
    expect((await newest()).after).to.include({ imported: 1 });
    await change(`opt-out export ${account}`);
    await change(`opt-out words ${account} --languages en`);
    const { link } = await change(`user invite asha@example.com --account ${account} --role owner --name Asha`);
    expect(await newest()).to.deep.include({ account, subject: { kind: 'user', id: 'asha@example.com' } });
    const reset = await change('user reset asha@example.com --second-factor');
    await change('user invite-operator root@example.com');
    await change('user role asha@example.com viewer');
    expect([(await newest()).before?.role, (await newest()).after?.role]).to.deep.equal(['owner', 'viewer']);
    for (const verb of ['disable', 'enable', 'sessions', 'remove']) await change(`user ${verb} asha@example.com`);
    const tokens = [link, reset.link].map((url) => String(url).split('#')[1] ?? '');
    const { secret } = await change(`webhook create ${account} http://127.0.0.1:9/`);

    const text = JSON.stringify(await entries());
    const told = [
      ...Object.values(SECRETS),
      ...tokens,
      String(secret),
      ...[key, next, admin].map((one) => String(one.key).split('_').at(-1) ?? ''),
      '919876543210',
    ];
    for (const one of told) expect(text).not.to.include(one);
    expect(text).not.to.match(/"v1\./);
    const changing = COMMANDS.filter(({ verb, isEndpoint }) => !isEndpoint && !LOOKS.includes(verb)).map(
      ({ noun, verb }) => `${noun} ${verb}`,
    );
    const others = changing.filter((name) => !seen.has(name) && !ELSEWHERE.includes(name));
    expect(others).to.deep.equal([]);
  });

  it('has nothing of what only looks', async () => {
    const before = (await entries()).length;

    for (const line of [
      'account list',
      `account show ${account}`,
      `key list ${account}`,
      'ledger verify',
      'audit list',
    ]) {
      await ops(line);
    }

    expect(await entries()).to.have.length(before);
  });

  it('says that a change ended with an error, and how it left the thing', async () => {
    await ops('user invite-operator ravi@example.com');
    const { code } = await run('user invite-operator ravi@example.com');

    expect(code).to.equal(1);
    const entry = await newest();
    expect(entry).to.deep.include({ action: 'user.invite-operator', outcome: 'failed' });
    expect(entry.after).to.deep.equal(entry.before);
  });

  it('is kept for HARKARA_AUDIT_DAYS', async () => {
    await ops(`account update ${account} --name Again`);

    const { at, expiresAt } = await newest();
    expect(expiresAt.getTime() - at.getTime()).to.equal(730 * 86_400_000);
  });

  it('is listed by account, by thing and by time, page by page', async () => {
    const key = await ops(`key create ${account} --name listed`);
    for (const line of [`update ${key.id} --name one`, `rotate ${key.id}`, `revoke ${key.id}`])
      await ops(`key ${line}`);
    const of = `audit list --subject key:${key.id}`;
    interface Page {
      readonly data: { readonly audit_id: string; readonly action: string }[];
      readonly next_cursor: string | null;
    }
    const page = (line: string): Promise<Page> => ops(line);
    const list = async (line: string) => (await page(line)).data;

    const all = await list(of);
    const { data: first, next_cursor: cursor } = await page(`${of} --limit 3`);
    const rest = await list(`${of} --limit 3 --cursor ${cursor}`);

    expect(all.map(({ action }) => action)).to.deep.equal(['key.revoke', 'key.rotate', 'key.update', 'key.create']);
    expect([...first, ...rest]).to.deep.equal(all);
    const since = new Date(Date.now() + 60_000).toISOString();
    expect(await list(`${of} --since ${since}`)).to.deep.equal([]);
    expect(await list(`${of} --until ${since}`)).to.deep.equal(all);
    expect((await list(`audit list --account ${account} --limit 1`))[0]?.audit_id).to.equal(all[0]?.audit_id);
    expect((await run(of)).out).to.match(/done +key\.update .*name/);
  });

  it('is listed by the time of the change also where an entry stands at the beginning of its minute', async () => {
    const [minute, at] = [new Date('2026-11-22T14:47:00.000Z'), new Date('2026-11-22T14:47:30.000Z')];
    const subject = { kind: 'webhook', id: 'whk_of_a_key' };
    const actor = { kind: 'key', id: '01kam', address: '203.0.113.7' } as const;
    const intended = { actor, action: 'webhook.register', subject };
    await beginEntry(world.store.db, minuteAuditId('01kam', at), intended, { now: at, keptDays: 730 });
    const count = async (times: string): Promise<number> => {
      const found = await ops(`audit list --subject webhook:${subject.id} ${times}`);
      return (found.data as unknown[]).length;
    };
    const [before, after] = [new Date(at.getTime() - 1).toISOString(), new Date(at.getTime() + 1).toISOString()];

    expect(await count(`--since ${minute.toISOString()} --until ${after}`)).to.equal(1);
    expect(await count(`--since ${before}`)).to.equal(1);
    expect(await count(`--since ${after}`)).to.equal(0);
    expect(await count(`--until ${before}`)).to.equal(0);
  });
});

const TEMPLATES = `Template Id,Template Name,Sender Id,Template Content,Template Type
1007000000001,Order,HARKRA,Your order {#var#} has left.,Service Implicit
`;
