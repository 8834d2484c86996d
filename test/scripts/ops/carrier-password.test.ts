import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { openedPassword } from '../../../shared/carriers/carrier-secrets.ts';
import { createSecretBox, loadSecretKeys } from '../../../shared/platform/runtime/secret-box.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

describe('npm run ops: the password of a carrier', () => {
  const world = use(() => OpsWorld.open());
  after(async () => {
    delete process.env.HARKARA_SMPP_PASSWORD;
  });

  it('asks for the password when it would be sent elsewhere', async () => {
    process.env.HARKARA_SMPP_PASSWORD = 'one';
    await world.run('carrier create moved --host smsc.example --port 2775 --system-id us --other-hosts two.example:1');
    delete process.env.HARKARA_SMPP_PASSWORD;

    const refused = await world.run('carrier update moved --host other.example');
    expect(refused.code).to.equal(2);
    expect(refused.err).to.include('--password-stdin');
    expect(await world.json('carrier update moved --reconnect-ms 10 --host smsc.example')).to.include({
      host: 'smsc.example',
    });
    process.env.HARKARA_SMPP_PASSWORD = 'two';
    const carrier = await world.json('carrier update moved --host other.example');
    expect(carrier).to.include({ host: 'other.example' });
    const stored = await world.store.db.collection<CarrierDocument>('carriers').findOne({ _id: 'moved' });
    if (stored === null) throw new Error('the carrier has gone');
    expect(openedPassword(createSecretBox(loadSecretKeys('', world.dir)), stored)).to.equal('two');
  });
});
