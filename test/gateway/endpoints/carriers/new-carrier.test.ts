import { startSmsc } from '../../../../scripts/simulator/smsc.ts';
import { writeBindReport } from '../../../../shared/carriers/bind-report.ts';
import type { CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { checkCarrier } from '../../../../shared/carriers/carrier-form.ts';
import { addRoute, removeRoute } from '../../../../shared/carriers/routing/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { use } from '../../../support/use.ts';
import { operatorAtGateway } from '../operators-world.ts';

const NEW = { host: '127.0.0.1', port: '2775', systemId: 'harkara' };

describe('carriers that come and go, by operators', () => {
  const world = operatorAtGateway(100);
  const smsc = use(() => startSmsc({}));
  const stored = (id: string) => world.db.collection<CarrierDocument>('carriers').findOne({ _id: id });
  const create = (id: string, more: object = {}) =>
    world.post('/carriers', { carrier_id: id, password: 'pa55word', settings: NEW, ...more });

  it('are made with a preset, which gives way to what is given; the password is sealed and never shown', async () => {
    const settings = { ...NEW, windowSize: '5', dlt: '0x1400,0x1401,0x1402', dltChain: '1101172974420820002' };
    const { status, body, text } = await create('acme', { preset: 'sinch', settings });

    expect(status, text).to.equal(200);
    expect(body.carrier).to.include({ carrier_id: 'acme', name: 'acme', window_size: 5, per_second: 10 });
    const made = await stored('acme');
    expect(TEST_BOX.open(made?.password ?? '', ['carriers', 'acme', 'password'])).to.equal('pa55word');
    expect(made?.dlt).to.deep.equal({
      ...{ entityTag: 0x1400, templateTag: 0x1401, hashTag: 0x1402, form: 'octet' },
      chain: ['1101172974420820002'],
    });
    expect(text + JSON.stringify(await world.lastAudit())).not.to.match(/pa55word|v1\./);
    expect((await world.lastAudit()).action).to.equal('carrier.create');
    expect((await create('acme')).body.code).to.equal('carrier_exists');
  });

  it('keep of the ids of DLT what a change leaves out, and say what is missing', async () => {
    const shown = await world.patch('/carriers/acme', { settings: { dltForm: 'cstring' } });
    const values = new Map(
      shown.body.carrier.settings.map((one: { name: string; value: string }) => [one.name, one.value]),
    );
    expect([values.get('dlt'), values.get('dltForm'), values.get('dltChain')]).to.deep.equal([
      ...['0x1400,0x1401,0x1402', 'cstring', '1101172974420820002'],
    ]);
    await world.patch('/carriers/acme', { settings: { dlt: '0x1400,0x1401' } });
    expect((await stored('acme'))?.dlt).to.deep.equal({ entityTag: 0x1400, templateTag: 0x1401, form: 'cstring' });
    await world.patch('/carriers/acme', { settings: { dlt: 'off' } });
    expect((await stored('acme'))?.dlt).to.equal('off');
    const { errors } = (await world.patch('/carriers/acme', { settings: { dltForm: 'cstring' } })).body;
    expect(errors[0]).to.deep.include({ field: 'settings.dlt', code: 'missing_field' });
  });

  it('are refused with everything that is missing or wrong', async () => {
    const { status, body } = await create('Acme Ltd', { settings: { host: 'a', windowSize: '0' }, preset: 'nobody' });

    expect(status).to.equal(400);
    const fields = body.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.have.members([
      ...['carrier_id', 'preset', 'settings.port', 'settings.systemId', 'settings.windowSize'],
    ]);
  });

  it('have a form with presets whose settings fit', async () => {
    const { body } = await world.get('/carrier-form');

    expect(body.settings.map(({ name }: { name: string }) => name)).to.include.members(['host', 'windowSize', 'dlt']);
    const smppOnly = body.settings.flatMap((one: { name: string; smpp_only: boolean }) =>
      one.smpp_only ? one.name : [],
    );
    expect(smppOnly).to.include.members(['bindKind', 'dlt', 'longText', 'validity', 'statusClass', 'otherHosts']);
    for (const both of ['windowSize', 'reconnectMs', 'substitute']) expect(smppOnly).not.to.include(both);
    expect(body.presets).not.to.deep.equal([]);
    for (const { preset } of body.presets) {
      expect((await create(`with-${preset}`, { preset })).status, preset).to.equal(200);
      const made = await stored(`with-${preset}`);
      if (made !== null) checkCarrier({ ...made, password: 'pa55word' });
      await world.db.collection<CarrierDocument>('carriers').deleteOne({ _id: `with-${preset}` });
    }
  });

  it('say where receipts come in while they are reached over HTTPS; the place stays', async () => {
    const kind = async (kind: string) =>
      (await world.patch('/carriers/web', { password: 'pa55word', settings: { kind } })).body.carrier.callback;
    const { callback } = (await create('web', { preset: 'twilio-http', settings: { systemId: 'AC1' } })).body.carrier;

    expect(callback).to.match(/^\/carriers\/callback\/cbk_/);
    expect(await kind('smpp')).to.equal(null);
    expect(await kind('http')).to.equal(callback);
  });

  it('are tested with settings that nobody has saved', async () => {
    const settings = { ...NEW, port: String(smsc.port) };
    const bound = await world.post('/carriers/test', { password: 'pa55word', settings });
    expect(bound.body).to.deep.include({ ok: true, words: 'bind: accepted' });
    expect(bound.body.pdus.join('\n')).to.match(/→ bind_transceiver #1 .*password=\(not shown\)/);
    expect(bound.text).not.to.include('pa55word');

    // A stored password is sent to no other host.
    const elsewhere = await world.post('/carriers/test', { carrier_id: 'acme', settings });
    expect(elsewhere.body.errors[0].field).to.equal('password');
    const given = await world.post('/carriers/test', { carrier_id: 'acme', settings, password: 'other' });
    expect(given.body).to.include({ ok: true });
    expect((await stored('acme'))?.port).to.equal(2775);

    const nobody = await world.post('/carriers/test', { password: 'x', settings: { ...NEW, port: '9' } });
    expect(nobody.body.ok).to.equal(false);
    expect(nobody.body.words).to.include('bind: no answer, or no connection');
    expect((await world.post('/carriers/test', { carrier_id: 'nobody' })).body.code).to.equal('carrier_not_found');
  });

  it('are removed when they are paused and nobody needs them', async () => {
    const remove = async () => (await world.delete('/carriers/acme')).body;
    expect(await remove()).to.deep.include({
      code: 'carrier_in_use',
      detail: 'It is active. Pause it first; what is under way ends then.',
    });
    await world.post('/carriers/acme/status', { status: 'paused' });
    const route = { _id: 'all', order: 0, match: {}, groups: [[{ carrier: 'acme', weight: 1 }]], waitSeconds: 30 };
    await addRoute(world.db, systemClock, route);
    expect((await remove()).detail).to.include('The route all names it');
    await removeRoute(world.db, 'all');
    await writeBindReport(world.db, { _id: 'acme', epoch: 3, at: new Date(), binds: [], flow: {} });
    expect((await remove()).detail).to.include('No SMPP worker has taken note of the pause yet');
    await world.db
      .collection<{ _id: string }>('leases')
      .insertOne({ _id: 'carrier:acme', owner: 'm', epoch: 4, until: new Date(Date.now() + 600_000) } as never);
    await world.db.collection<{ _id: string }>('queue').insertOne({ _id: 'q', claims: [{ carrier: 'acme' }] } as never);
    expect((await remove()).detail).to.include('is not finished');
    await world.db.collection<{ _id: string }>('queue').deleteOne({ _id: 'q' });

    expect(await remove()).to.deep.include({ status: 'success', carrier_id: 'acme' });
    expect(await stored('acme')).to.equal(null);
    expect((await remove()).code).to.equal('carrier_not_found');
    expect((await world.lastAudit()).action).to.equal('carrier.remove');
  });

  it('have telemarketers of an account', async () => {
    await create('jio');
    const path = `/accounts/${world.account}/chains`;
    const telemarketers = ['1101172974420820002', '1101172974420830004'];
    expect((await world.put(`${path}/jio`, { telemarketers })).status).to.equal(200);
    expect((await world.get(path)).body.chains).to.deep.equal([{ carrier_id: 'jio', telemarketers }]);
    expect((await world.put(`${path}/jio`, { telemarketers: ['7'] })).body.errors[0].field).to.equal(
      'telemarketers[0]',
    );
    expect((await world.put(`${path}/nobody`, { telemarketers })).body.code).to.equal('carrier_not_found');
    expect((await world.delete(`${path}/jio`)).status).to.equal(200);
    expect((await world.delete(`${path}/jio`)).body.code).to.equal('chain_not_found');
  });
});
