import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

describe('npm run ops: opt-outs', () => {
  const world = use(() => OpsWorld.open());

  const fileOf = (name: string, text: string): string => {
    const path = join(world.dir, name);
    writeFileSync(path, text);
    return path;
  };

  it('what export writes, import reads: who, of what, and since when', async () => {
    const [from, to] = [await world.newAccount(), await world.newAccount()];
    await world.json(`opt-out add ${from} 919876543210`);
    await world.json(`opt-out add ${from} 919876543210 --number 56161`);
    await world.json(`opt-out add ${from} 4915112345678 --number 919000000001`);
    const { out } = await world.run(`opt-out export ${from}`);
    const file = fileOf('exported.csv', out);

    const imported = await world.json(`opt-out import ${to} ${file}`);
    const again = await world.json(`opt-out import ${to} ${file}`);

    expect(out.split('\n')[0]).to.equal('customer,number,since,source,word');
    expect([imported.imported, again.imported]).to.deep.equal([3, 3]);
    const said = async (account: string) =>
      (await world.run(`opt-out export ${account}`)).out
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',').slice(0, 3));
    expect(await said(to)).to.deep.equal(await said(from));
    expect((await world.json(`opt-out list ${to}`)).map(({ source }: { source: string }) => source)).to.deep.equal(
      Array(3).fill('import'),
    );
  });

  it('an opt-out of one number says what it blocks, and who entered it', async () => {
    const account = await world.newAccount();
    await world.json(`number add 919000000007 ${account}`);

    const own = await world.run(`opt-out add ${account} 919876543210 --number 919000000007`);

    const blocked = '919876543210 gets no SMS of the number 919000000007, nor of any sender name of the account.';
    expect(own.out).to.equal(`${blocked}\n`);
    expect((await world.run(`opt-out list ${account}`)).out).to.match(/^919876543210 +919000000007 +\S+ +ops +-$/m);
  });

  it('import reads a list of numbers alone, with a mark, quotes, empty lines and Windows line ends', async () => {
    const account = await world.newAccount();
    const text = '\ufeffcustomer,number,since\r\n"919876543210","56161","2026-01-31T12:00:00Z"\r\n\r\n919876543211\r\n';

    await world.json(`opt-out import ${account} ${fileOf('windows.csv', text)}`);

    const listed: readonly { customer: string; number: string | null; since: string }[] = await world.json(
      `opt-out list ${account}`,
    );
    expect(listed.map(({ customer, number }) => [customer, number])).to.deep.equal([
      ['919876543210', '56161'],
      ['919876543211', null],
    ]);
    expect(listed[0]?.since).to.equal('2026-01-31T12:00:00+00:00');
  });

  it('import finds the customers by the name of their column, with what nobody sees, and between tabs', async () => {
    const account = await world.newAccount();
    const text =
      'Name\t\u202aMobile No.\u202c\tDue\nAsha\t+91 98765-43210\tRs. 1,200\nRavi\t919876543211\tRs. 2,200\n\u200b\t\n';

    await world.json(`opt-out import ${account} ${fileOf('tabs.csv', text)}`);

    const listed: readonly { customer: string }[] = await world.json(`opt-out list ${account}`);
    expect(listed.map(({ customer }) => customer)).to.deep.equal(['919876543210', '919876543211']);
  });

  it('customers in national form are completed: by the number, by the account, or by the country of its numbers', async () => {
    const [byAccount, byNumbers, none] = [await world.newAccount(), await world.newAccount(), await world.newAccount()];
    await world.json(`account update ${byAccount} --country IN`);
    await world.json(`number add 447400123456 ${byAccount}`);
    await world.json(`number add 919000000017 ${byNumbers}`);
    const file = fileOf('local.csv', '9811111131\n09811111132\n7400123457,447400123456\n4915112345678\n');

    await world.json(`opt-out import ${byAccount} ${file}`);
    await world.json(`opt-out import ${byNumbers} ${fileOf('one.csv', '9811111131\n')}`);
    await world.json(`opt-out import ${none} ${fileOf('one.csv', '9811111131\n')}`);
    const added = await world.json(`opt-out add ${byNumbers} 09811111133`);

    const customers = async (account: string) =>
      (await world.json(`opt-out list ${account}`)).map(({ customer }: { customer: string }) => customer);
    expect(await customers(byAccount)).to.deep.equal([
      ...['447400123457', '4915112345678', '919811111131', '919811111132'],
    ]);
    expect(added.customer).to.equal('919811111133');
    expect(await customers(byNumbers)).to.deep.equal(['919811111131', '919811111133']);
    expect(await customers(none)).to.deep.equal(['9811111131']);
    await world.json(`opt-out remove ${byNumbers} 9811111131`);
    expect(await customers(byNumbers)).to.deep.equal(['919811111133']);
    const again = await world.run(`opt-out remove ${byNumbers} 9811111131`);
    expect([again.code, again.err]).to.deep.equal([
      1,
      `919811111131 has not opted out of the account: \`opt-out list ${byNumbers}\` shows who has.\n`,
    ]);
    const { code, err } = await world.run(`opt-out add ${none} 09811111131`);
    expect([code, err]).to.satisfy(([ended, said]: [number, string]) => ended === 2 && /country code/.test(said));
  });

  it('import refuses what is no ISO date: nobody knows which day 01/11/2026 is, and STOP 1 is none', async () => {
    const account = await world.newAccount();
    const text = readFileSync('test/fixtures/sheets/08-opt-outs-dates.csv', 'utf8');

    const { code, err } = await world.run(`opt-out import ${account} ${fileOf('dates.csv', text)}`);

    expect(code).to.equal(1);
    expect(err)
      .to.include('Nothing was imported. Bad lines: 6.')
      .and.to.include(
        'line 2: "01/11/2026" is no time that is the same for everybody. Write a day like 2026-11-28, or a time with its offset like 2026-11-28T18:30:00+05:30.',
      )
      .and.to.match(/line 5: "STOP 1"[\s\S]*line 7: "1" is no time/);
  });

  it('import takes days, and times with an offset, and numbers as people write them', async () => {
    const account = await world.newAccount();
    const text =
      'sep=;\r\ncustomer;name;since\r\n\u202a+91 98765 43210\u202c;Asha;2026-01-31\r\n="919876543211";Ravi;2026-01-31T05:30:00+05:30\r\n';

    await world.json(`opt-out import ${account} ${fileOf('days.csv', text)}`);

    const listed: readonly { customer: string; since: string }[] = await world.json(`opt-out list ${account}`);
    expect(listed.map(({ customer, since }) => [customer, since])).to.deep.equal([
      ['919876543210', '2026-01-31T00:00:00+00:00'],
      ['919876543211', '2026-01-31T00:00:00+00:00'],
    ]);
  });

  it('a bad line is named, and nothing is imported', async () => {
    const account = await world.newAccount();
    const text = 'customer,number,since\n919876543210\nAsha\n919876543212,HARKRA\n919876543213,,tomorrow\n';

    const { code, err } = await world.run(`opt-out import ${account} ${fileOf('bad.csv', text)}`);

    expect(code).to.equal(1);
    expect(err)
      .to.include('Nothing was imported. Bad lines: 3.')
      .and.to.match(/line 3: [\s\S]*line 4: The number[\s\S]*line 5: "tomorrow" is no time/);
    expect(await world.json(`opt-out list ${account}`)).to.deep.equal([]);
  });
});
