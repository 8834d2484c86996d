import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

describe('npm run ops: receipts of carriers', () => {
  const world = use(() => OpsWorld.open());
  before(async () => {
    process.env.HARKARA_SMPP_PASSWORD = 'pa55word';
    await world.json('carrier create acme --host smsc.example --port 2775 --system-id us');
  });
  after(async () => {
    delete process.env.HARKARA_SMPP_PASSWORD;
  });

  it('lists the profiles with their rules and sources', async () => {
    const { out } = await world.run('carrier receipt-profiles');
    const profiles = JSON.parse((await world.run('carrier receipt-profiles --json')).out);

    expect(out).to.match(/^telesign +0 +2 +ignore +first +Telesign/m);
    expect(profiles.find(({ profile }: { profile: string }) => profile === 'kaleyra')).to.deep.include({
      otherWord: 'failed',
      parts: 'perPart',
    });
  });

  it('shows how a receipt is read, by the settings of its carrier, and stores nothing', async () => {
    const read = async (text: string, options = ''): Promise<string> =>
      (await world.run(['carrier', 'read-receipt', 'acme', text, ...options.split(' ').filter(Boolean)])).out;

    expect(await read('id:00a stat:DND err:051 text:hello')).to.match(
      /ids +00a\nlooked for as +a, .*\nword +DND\nmeans +rejected\nerror code +051\n/,
    );
    expect(await read('id:1 stat:BOOM')).to.match(
      /means +ignore: .* \(no table has this word; by the profile generic\)/,
    );
    await world.json('carrier update acme --receipt-profile yo --receipt-word BOOM=hold,ZAP=failed');
    expect(await read('id:1 stat:BOOM')).to.match(/means +hold: /);
    expect(await read('id:1 stat:0')).to.match(/means +delivered/);
    expect(await read('stat:0', '--receipted-message-id AB --message-state 8')).to.match(
      /ids +AB\n.*\n.*\nmeans +rejected/,
    );
    expect(await read('id:1 stat:DELIVRD text:a secret')).not.to.include('secret');
    expect(await world.store.db.collection('orphans').countDocuments()).to.equal(0);
    expect(await world.store.db.collection('audit').countDocuments({ verb: 'read-receipt' })).to.equal(0);
  });

  it('says what is missing: the id, the carrier, a profile, the meaning of a word', async () => {
    const said = async (...words: string[]): Promise<readonly [number, string]> => {
      const { code, err } = await world.run(['carrier', ...words]);
      return [code, err];
    };

    expect(await said('read-receipt', 'acme', 'hello')).to.deep.equal([
      1,
      'It has no message id, so it fits no message: the worker would only log it (`receipt_unreadable`). If the carrier sends the id as a TLV, add --receipted-message-id.\n',
    ]);
    expect((await said('read-receipt', 'nobody', 'id:1'))[1]).to.include('There is no carrier "nobody"');
    const [code, profile] = await said('update', 'acme', '--receipt-profile', 'acme');
    expect([code, profile]).to.deep.equal([2, profile]);
    expect(profile).to.match(/--receipt-profile: .*generic/);
    expect((await said('update', 'acme', '--receipt-word', 'DND=gone'))[1]).to.match(/--receipt-word: .*DND=rejected/);
  });
});
