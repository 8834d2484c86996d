import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { findTemplate } from '../../../shared/templates/sms/store.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

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
  const stored = (dltId: string) => findTemplate(world.store.db, account as AccountId, dltId); // ops told it;

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
