import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSender } from '../../../shared/carriers/sender.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { createTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { findTemplate, listTemplates } from '../../../shared/templates/sms/store.ts';
import { makeAccount } from '../../support/make.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

const ID = '1107160000000000001';
const CONTENT = 'Your code is {#var#}.';
const WAITS = ['--content', CONTENT, '--senders', 'HARKRA', '--status', 'submitted'];

describe('npm run ops -- template', () => {
  const world = use(() => OpsWorld.open());
  let account: AccountId;
  beforeEach(async () => {
    account = await makeAccount(world.store.db, 0);
  });

  const ops = (...words: string[]) => world.run(words);
  const create = (...more: string[]) =>
    ops('template', 'create', account, ID, '--content', CONTENT, '--senders', 'HARKRA', ...more);

  it('create: registers it as approved, for the route of its senders', async () => {
    expect(await create('--name', 'Code', '--entity-id', '1101160000000000009')).to.include({ code: 0, err: '' });

    expect(await findTemplate(world.store.db, account, ID)).to.deep.include({
      name: 'Code',
      senders: ['HARKRA'],
      routes: ['transactional'],
      entityId: '1101160000000000009',
      content: CONTENT,
      status: 'approved',
    });
  });

  it('create: registers an id once', async () => {
    await create();

    expect(await create()).to.include({ code: 1, err: `${ID} is registered to ${account} already.\n` });
  });

  it('create: says everything that is wrong with it, and stores nothing', async () => {
    const bad = ['template', 'create', account, ID, '--content', 'Hi {#vra#}', '--senders', 'TWELVE-CHARS'];

    const { code, err } = await ops(...bad);

    expect(code).to.equal(1);
    expect(err).to.match(/^Not created\. /);
    expect(err).to.include('content:').and.include('senders:');
    expect(await findTemplate(world.store.db, account, ID)).to.equal(undefined);
  });

  it('approve and reject: what was submitted counts from its approval to its rejection', async () => {
    await create('--status', 'submitted');
    const status = async () => (await findTemplate(world.store.db, account, ID))?.status;
    expect(await status()).to.equal('submitted');

    expect(await ops('template', 'approve', account, ID)).to.include({ code: 0, out: `${ID} is approved.\n` });
    expect(await status()).to.equal('approved');
    await ops('template', 'reject', account, ID, '--reason', 'wrong header');
    expect(await findTemplate(world.store.db, account, ID)).to.include({ status: 'rejected', reason: 'wrong header' });
  });

  it('pause and resume: hold its messages and let them go, whatever its status', async () => {
    await create();

    expect(await ops('template', 'pause', account, ID)).to.include({ code: 0, out: `${ID} is paused.\n` });
    expect(await findTemplate(world.store.db, account, ID)).to.include({ status: 'approved', paused: true });
    expect((await ops('template', 'list', account)).out).to.match(/approved +yes/);
    expect(await ops('template', 'resume', account, ID)).to.include({ code: 0, out: `${ID} is resumed.\n` });
    expect(await findTemplate(world.store.db, account, ID)).not.to.have.property('paused');
    expect((await ops('template', 'pause', account, '1107160000000000099')).err).to.include('has no template');
  });

  it('approve: gives a request its id, of the text that was read; reject refuses one', async () => {
    const asked = async () => {
      const _id = newId('tpr');
      const text = { name: 'x', senders: ['HARKRA'], routes: ['transactional'], content: CONTENT } as const;
      await createTemplateRequest(world.store.db, systemClock, { _id, account, ...text });
      return _id;
    };
    const approved = ['template', 'approve', account, await asked(), '--dlt-id', ID];
    const [{ template }] = await world.json(['approval', 'list', '--account', account]);

    expect((await ops(...approved)).err).to.match(/^--version: The account asked for it itself/);
    expect((await ops(...approved, '--version', template.version)).out).to.equal(`${ID} is approved.\n`);
    expect(await findTemplate(world.store.db, account, ID)).to.include({ status: 'approved' });
    expect((await ops('template', 'reject', account, await asked(), '--reason', 'No such header')).code).to.equal(0);
    expect((await ops('approval', 'list', '--account', account)).out).to.equal('There are none.\n');
    expect((await ops('template', 'approve', account, newId('tpr'))).err).to.include('no such template');
  });

  it('list: shows all, or those of a state', async () => {
    await create();

    expect((await ops('template', 'list', account)).out).to.match(
      new RegExp(`${ID} +approved +no +HARKRA +transactional`),
    );
    expect((await ops('template', 'list', account, '--state', 'rejected')).out).to.equal('There are none.\n');
  });

  function file(text: string | Uint8Array): string {
    const path = join(world.dir, 'export.csv');
    writeFileSync(path, text);
    return path;
  }

  it('approval list: the oldest few of each account, and all of one', async () => {
    const other = await makeAccount(world.store.db, 0);
    for (let n = 1; n <= 5; n++) {
      await ops('template', 'create', account, `110716000000000010${n}`, ...WAITS);
    }
    await ops('template', 'create', other, ID, ...WAITS);
    const list = async (...more: string[]) => {
      const all = await world.json(['approval', 'list', ...more]);
      return all.map((one: Record<string, unknown>) => [one.account, one.account_waiting]);
    };

    const shown = await list();
    expect(shown.filter(([of]: string[]) => of === account)).to.deep.equal(Array(3).fill([account, 5]));
    expect(shown).to.deep.include([other, 1]);
    expect(await list('--account', account)).to.deep.equal(Array(5).fill([account, 5]));
    expect((await ops('approval', 'list')).out).to.match(
      new RegExp(`^${other} +1 .* template +${ID} +HARKRA .* [0-9a-f]{12} +${CONTENT.slice(0, 5)}`, 'm'),
    );
  });

  it('import: registers an export, and changes nothing when it is repeated', async () => {
    const path = file(
      `Template ID,Header,Content\n${ID},HARKRA,"${CONTENT}"\n1107160000000000002,HARKRA,Bye {#var#}\n`,
    );

    const first = await ops('template', 'import', account, path);
    const again = await ops('template', 'import', account, path);

    expect(first.out).to.match(/^2 templates are registered, 0 were there/);
    expect(again.out).to.match(/^0 templates are registered, 2 were there/);
    expect((await listTemplates(world.store.db, account, 'approved')).map(({ content }) => content)).to.deep.equal([
      CONTENT,
      'Bye {#var#}',
    ]);
  });

  it('import: imports nothing when a row is bad, unless told to leave it out', async () => {
    const path = file(`id,header,content\n${ID},HARKRA,"${CONTENT}"\n12,HARKRA,short id\n`);

    const refused = await ops('template', 'import', account, path);
    expect(refused).to.include({ code: 1 });
    expect(refused.err).to.include('line 3:');
    expect(await listTemplates(world.store.db, account)).to.deep.equal([]);

    const { code, out } = await ops('template', 'import', account, path, '--skip-bad');
    expect(out).to.match(/^1 templates are registered, 0 were there already, 1 rows were left out/);
    expect(out).to.include('line 3:');
    expect(code).to.equal(1);
    expect(await listTemplates(world.store.db, account)).to.have.length(1);
  });

  for (const more of [[], ['--skip-bad']]) {
    it(`import ${more}: is not done when a column is missing; it names the column and those that there are`, async () => {
      const path = file(`Template ID,Header\n${ID},HARKRA\n`);

      const { code, err } = await ops('template', 'import', account, path, ...more);

      expect(code).to.equal(1);
      expect(err).to.match(/There is no column for content \(as .*\)\. The file has "Template ID", "Header"\.$/m);
      expect(await listTemplates(world.store.db, account)).to.deep.equal([]);
    });
  }

  it("import: takes an operator's file as the portal gives it, in UTF-16 and with tabs", async () => {
    const text = `TEMPLATE ID\tHEADER ID\tContent Template\r\n${ID}\tHARKRA\tप्रिय {#var#}\r\n`;

    const { code } = await ops('template', 'import', account, file(Buffer.from(`\ufeff${text}`, 'utf16le')));

    expect(code).to.equal(0);
    expect(await findTemplate(world.store.db, account, ID)).to.include({ content: 'प्रिय {#var#}' });
  });

  it('import: names the headers that the account may not use, with their rows and what to do', async () => {
    const sender = (name: string, status: 'approved' | 'submitted') =>
      createSender(world.store.db, systemClock, { account, sender: name, routes: ['transactional'], status });
    await sender('HARKRA', 'approved');
    await sender('WAITNG', 'submitted');
    const path = file(
      `id,header,content\n${ID},"HARKRA,ACMEBK",Hi\n1107160000000000002,ACMEBK,Bye\n1107160000000000003,WAITNG,Hm\n`,
    );

    const { code, out } = await ops('template', 'import', account, path);

    expect(code).to.equal(0);
    expect(out).to.match(/^3 templates are registered/);
    expect(out).to.include(`WARNING: ${account} may not use 2 headers`);
    expect(out).to.match(new RegExp(`^ACMEBK +2 +not registered +sender create ${account} ACMEBK$`, 'm'));
    expect(out).to.match(new RegExp(`^WAITNG +1 +submitted +sender approve ${account} WAITNG$`, 'm'));
    expect(JSON.parse((await ops('template', 'import', account, path, '--json')).out).unusable_senders).to.deep.equal([
      { sender: 'ACMEBK', rows: 2, status: 'not registered' },
      { sender: 'WAITNG', rows: 1, status: 'submitted' },
    ]);
  });

  it('import: tells that the file cannot be read', async () => {
    const { code, err } = await ops('template', 'import', account, join(world.dir, 'nowhere.csv'));

    expect(code).to.equal(1);
    expect(err).to.match(/nowhere\.csv cannot be read/);
  });
});

const A = '1107160000000000011';
const B = '1107160000000000012';

describe('npm run ops: an export that is imported again', () => {
  const world = use(() => OpsWorld.open());
  let account: string;
  beforeEach(async () => {
    account = await world.newAccount();
    await imported(`${A},HARKRA,Hi {#var#},Approved`, `${B},HARKRA,Bye {#var#},Approved`);
  });

  /** Imports these rows; the options come first. */
  function imported(...rows: readonly string[]) {
    const path = join(world.dir, 'export.csv');
    const options = rows.filter((row) => row.startsWith('--'));
    writeFileSync(path, ['id,header,content,status', ...rows.filter((row) => !row.startsWith('--'))].join('\r\n'));
    return world.run(['template', 'import', account, path, ...options].join(' '));
  }
  const stored = (dltId: string) => findTemplate(world.store.db, account as AccountId, dltId); // printed by ops

  it('without a change it says nothing, and ends well', async () => {
    const { code, out } = await imported(`${A},HARKRA,Hi {#var#},Active`);

    expect(code).to.equal(0);
    expect(out)
      .to.match(/^0 templates are registered, 1 were there already/)
      .and.not.include('something else');
  });

  it('names old and new of each row, warns of what is still sent, changes nothing, and ends with 1', async () => {
    const { code, out } = await imported(`${A},HARKRA,Hi {#var#},Blacklisted`, `${B},HARKRA,Bye bye {#var#},Approved`);

    expect(code).to.equal(1);
    expect(out).to.include('The file says something else of 2 registered templates. They stay as they are; --update');
    expect(out).to.include(`line 2: ${A}: status: "approved" → "rejected"`);
    expect(out).to.include(`line 3: ${B}: content: "Bye {#var#}" → "Bye bye {#var#}"`);
    expect(out).to.include(
      'WARNING: the DLT platform allows 1 of them no more, and they are still sent: --update stops',
    );
    expect(await stored(A)).to.include({ status: 'approved' });
    expect(await stored(B)).to.include({ content: 'Bye {#var#}' });
  });

  it("the account's own PE id is what a template without one has, and another one is told", async () => {
    const path = join(world.dir, 'entities.csv');
    await world.json(`account update ${account} --entity-id 1101160000000000009`);
    writeFileSync(path, `id,header,content,Entity ID\n${A},HARKRA,Hi {#var#},1101160000000000009\n`);
    const same = await world.run(`template import ${account} ${path}`);
    writeFileSync(path, `id,header,content,Entity ID\n${A},HARKRA,Hi {#var#},1101160000000000008\n`);
    const other = await world.run(`template import ${account} ${path}`);

    expect([same.code, other.code]).to.deep.equal([0, 1]);
    expect(other.out).to.include('"1101160000000000008"');
  });

  it('--update applies them, and ends well', async () => {
    const { code, out } = await imported('--update', `${A},HARKRA,Hi {#var#},Inactive`, `${B},HARKRA,Bye bye {#var#},`);

    expect(code).to.equal(0);
    expect(out).to.include('2 registered templates were changed:').and.not.include('WARNING: the DLT');
    expect(await stored(A)).to.include({ status: 'rejected', reason: 'The DLT platform says: Inactive' });
    expect(await stored(B)).to.include({ content: 'Bye bye {#var#}', status: 'approved' });
    expect((await imported('--update', `${A},HARKRA,Hi {#var#},Approved`)).code).to.equal(0);
    const again = await stored(A);
    expect(again).to.include({ status: 'approved' });
    expect(again).not.to.have.property('reason');
  });

  it('new rows are registered beside changes that are not made', async () => {
    const { code, out } = await imported(`${A},HARKRA,Ho {#var#},`, '1107160000000000013,HARKRA,New {#var#},');

    expect([code, out.split('\n')[0]]).to.deep.equal([
      1,
      '1 templates are registered, 1 were there already, 0 rows were left out.',
    ]);
  });
});
