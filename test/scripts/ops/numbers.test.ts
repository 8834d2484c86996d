import { expect } from 'chai';
import type { InboundDocument } from '../../../shared/messages/inbound.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { OpsWorld } from '../../support/ops-world.ts';

describe('npm run ops: numbers and what nobody received', () => {
  let world: OpsWorld;
  before(async () => {
    world = await OpsWorld.open();
  });
  after(() => world.close());

  it('a number belongs to one account, each keyword of it too', async () => {
    const [one, other] = [await world.newAccount(), await world.newAccount()];

    const made = await world.json(`number add +919000000001 ${one}`);
    const again = await world.run(`number add 919000000001 ${other}`);
    await world.json(`number add 919000000001 ${other} --keyword Join!`);
    const taken = await world.run(`number add 00919000000001 ${one} --keyword JOIN`);

    expect(made).to.include({ number: '919000000001', keyword: null, account: one, country: 'IN' });
    expect(again).to.include({ code: 1 });
    expect(again.err).to.include(`belongs to ${one} already`);
    expect(taken.err).to.include(`with the keyword "join" belongs to ${other} already`);
    expect((await world.run('number show 919000000001')).out).to.match(/\(all others\).*\n.*join/);
  });

  it('a number as inside its country is completed, and a short code is not', async () => {
    const account = await world.newAccount();

    expect(await world.json(`number add 9000000055 ${account} --country in`)).to.include({ number: '919000000055' });
    expect(await world.json(`number add 56155 ${account} --country in`)).to.include({ number: '56155' });
  });

  it('is shown by account, and taken away', async () => {
    const account = await world.newAccount();
    await world.json(`number add 56161 ${account} --keyword vote --country in`);

    expect(await world.json(`number list --account ${account}`)).to.have.length(1);
    expect((await world.run('number remove 56161')).err).to.include('without a keyword belongs to nobody');
    expect((await world.run('number remove 56161 --keyword VOTE')).out).to.include('belongs to nobody now');
    expect((await world.run('number show 56161')).code).to.equal(1);
    expect(await world.json('audit list --subject number:56161:vote')).to.have.length(2);
  });

  it('a list that --limit has cut says so, and one of an account that does not exist is no empty list', async () => {
    const account = await world.newAccount();
    for (const keyword of ['red', 'green']) await world.json(`number add 56262 ${account} --keyword ${keyword}`);

    expect((await world.run(`number list --account ${account} --limit 1`)).out).to.match(/\nThere may be more: /);
    expect((await world.run(`number list --account ${account} --limit 3`)).out).not.to.include('more');
    const unknown = await world.run('number list --account acc_00000000000000000000000000');
    expect(unknown.err).to.include('There is no account acc_00000000000000000000000000');
  });

  it('what cannot be a number, a keyword or a country is refused', async () => {
    const account = await world.newAccount();

    for (const line of [
      `number add HARKRA ${account}`,
      `number add 12 ${account}`,
      `number add 56161 ${account} --keyword !!`,
      `number add 56161 ${account} --country XX`,
    ]) {
      expect(await world.run(line), line).to.include({ code: 2 });
    }
  });

  it('inbound list shows what belongs to nobody, its text only when asked for', async () => {
    const stray = { from: '919811112222', to: '919000000009', type: 'text', body: 'hello\u001b[31m there' };
    await world.store.db.collection<InboundDocument>('inbound').insertOne({
      ...{ _id: newId('inb'), carrier: 'acme', at: new Date(), from: '+919811112222', fromTon: 1, to: '919000000009' },
      ...{
        dataCoding: 0,
        octets: '',
        fingerprint: 'f',
        unassigned: stray,
        expiresAt: new Date(Date.now() + 86_400_000),
      },
    });

    const without = await world.run('inbound list');
    const withText = await world.run('inbound list --text');
    expect((await world.run('inbound list --limit 1')).out).to.match(/\nThere may be more: raise --limit\.\n$/);

    expect(without.out)
      .to.match(/acme +919811112222 +919000000009/)
      .and.not.to.include('hello');
    expect(withText.out).to.include('hello [31m there');
    expect(await world.json('inbound list --text')).to.have.length(1);
  });
});
