import { writeBindReport } from '../../../../shared/carriers/bind-report.ts';
import type { CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { createCarrier } from '../../../../shared/carriers/carrier-store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { operatorAtGateway } from '../operators-world.ts';

const SINCE = new Date('2026-11-22T14:02:00.000Z');

describe('carriers and routes, by operators', () => {
  const world = operatorAtGateway(100);
  before(async () => {
    for (const id of ['airtel', 'jio']) {
      await createCarrier(world.db, systemClock, TEST_BOX, {
        ...{ _id: id, name: id.toUpperCase(), host: 'smpp.example.com', port: 2775, systemId: 'harkara' },
        password: 'hunter2!',
      });
    }
    // As the holder of the carrier's lease would store it.
    const until = new Date(Date.now() + 600_000);
    await world.db
      .collection<{ _id: string }>('leases')
      .insertOne({ _id: 'carrier:airtel', owner: 'another-machine', epoch: 3, until } as never);
    await writeBindReport(world.db, {
      ...{ _id: 'airtel', epoch: 3, at: SINCE },
      binds: [
        {
          ...{ index: 0, state: 'backoff', since: SINCE },
          trouble: { kind: 'refused', code: '0x0E', reason: 'wrong password', since: SINCE },
        },
      ],
      flow: {},
      measured: { since: SINCE, unanswered: [4], answers: { accepted: 10, throttled: 2 }, receipts: { delivered: 8 } },
    });
  });
  const stored = (id: string) => world.db.collection<CarrierDocument>('carriers').findOne({ _id: id });

  it('are shown with the reason in words and since when; no secret is shown', async () => {
    const { body, text } = await world.get('/carriers');

    const [airtel, jio] = body.carriers;
    expect(airtel.words).to.equal('bind refused: wrong password (0x0E) since 2026-11-22T14:02:00.000Z');
    expect(airtel).to.include({ condition: 'refused', unknowns: 0 });
    expect(airtel.binds[0]).to.deep.include({ state: 'backoff', window_used: 4 });
    expect(airtel.measured).to.deep.include({ throttled: 2 });
    expect(jio).to.include({ condition: 'unheld', measured: null });
    expect(text).not.to.match(/hunter2|v1\./);
    expect((await world.get('/carriers/airtel')).text).not.to.match(/hunter2|v1\./);
    expect((await world.get('/carriers/vodafone')).body.code).to.equal('carrier_not_found');
  });

  it('have settings as a form, whose every value can be sent back', async () => {
    const { settings } = (await world.get('/carriers/jio')).body;
    const sendable = settings.filter(
      ({ secret, value }: { secret: boolean; value: string }) => !secret || value === 'off',
    );
    const same = Object.fromEntries(sendable.map(({ name, value }: { name: string; value: string }) => [name, value]));
    const before = await stored('jio');

    expect(settings).to.have.length.above(40);
    const { status, body } = await world.patch('/carriers/jio', { settings: same });
    expect(status, JSON.stringify(body.errors)).to.equal(200);
    expect(body.carrier.settings).to.deep.equal(settings);
    expect(await stored('jio')).to.deep.include({ password: before?.password, windowSize: before?.windowSize });
  });

  it('are changed setting by setting; a wrong one is named with its right form', async () => {
    const changed = await world.patch('/carriers/jio', {
      ...{ name: 'Jio', password: 'n3w-secret' },
      settings: { windowSize: '20', interfaceVersion: '3.3' },
    });

    expect(changed.body.carrier).to.include({ name: 'Jio', window_size: 20 });
    expect(TEST_BOX.open((await stored('jio'))?.password ?? '', ['carriers', 'jio', 'password'])).to.equal(
      'n3w-secret',
    );
    const { action, before, after } = await world.lastAudit();
    expect(action).to.equal('carrier.update');
    expect([before?.windowSize, after?.windowSize]).to.deep.equal([50, 20]);
    expect(JSON.stringify({ before, after })).not.to.match(/n3w-secret|v1\./);

    const wrong = await world.patch('/carriers/jio', {
      settings: { windowSize: '0', windowSiez: '5', port: 2775, longText: 'sar' },
    });
    expect(wrong.status).to.equal(400);
    const fields = wrong.body.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.have.members(['settings.windowSize', 'settings.windowSiez', 'settings.port']);
    expect((await world.patch('/carriers/jio', { settings: { longText: 'sar' } })).body.errors[0].detail).to.match(
      /with interface_version 3.3 no TLV can be sent/,
    );
    expect(await stored('jio')).to.include({ windowSize: 20 });
  });

  it('are not sent elsewhere with the password that is stored', async () => {
    const { settings } = (await world.get('/carriers/airtel')).body;
    const leading = settings.filter((one: { needs_password: boolean }) => one.needs_password);
    const before = await stored('airtel');
    const elsewhere = { host: '127.0.0.1', port: '2776' };

    const names = [
      ...['kind', 'host', 'port', 'systemId', 'tls', 'otherHosts', 'receiverHosts', 'tlsCa', 'tlsHostName'],
      ...['requestPath', 'requestHeaders', 'requestForm', 'requestJson'],
    ];
    expect(leading.map(({ name }: { name: string }) => name)).to.have.members(names);
    const refused = await world.patch('/carriers/airtel', { settings: { ...elsewhere, windowSize: '9' } });
    expect(refused.status).to.equal(400);
    expect(refused.body.errors).to.deep.equal([
      {
        ...{ field: 'password', code: 'missing_field' },
        detail: `A change of settings.host, settings.port decides where the password is sent. Give the carrier's password in the same request.`,
      },
    ]);
    const listed = await world.patch('/carriers/airtel', { settings: { otherHosts: '127.0.0.1:2776' } });
    expect(listed.body.errors[0].field).to.equal('password');
    expect(await stored('airtel')).to.deep.equal(before);

    const moved = await world.patch('/carriers/airtel', { settings: elsewhere, password: 'hunter2!' });
    expect(moved.body.carrier).to.include({ host: '127.0.0.1', port: 2776 });
    const again = await world.patch('/carriers/airtel', { settings: { ...elsewhere, windowSize: '9' } });
    expect(again.body.carrier).to.include({ window_size: 9 });
  });

  it('are paused and resumed, with the reason in the audit', async () => {
    const paused = await world.post('/carriers/jio/status', { status: 'paused', reason: 'Their maintenance' });

    expect(paused.body.carrier).to.include({ status: 'paused', condition: 'paused' });
    expect(await world.lastAudit()).to.deep.include({
      action: 'carrier.pause',
      after: { status: 'paused', reason: 'Their maintenance' },
    });
    expect((await world.post('/carriers/jio/status', { status: 'active' })).body.carrier.status).to.equal('active');
    expect((await world.post('/carriers/jio/status', { status: 'gone' })).status).to.equal(400);
  });

  it('routes are made, replaced, explained and removed', async () => {
    const groups = [[{ carrier: 'airtel', weight: 70 }, { carrier: 'jio' }]];
    const made = await world.put('/routes/india', { matches: { countries: ['IN'] }, groups });

    expect(made.body.route.words).to.equal('country IN → airtel:70,jio:1');
    expect(made.body.warning).to.match(/no_route/);
    const rest = await world.put('/routes/rest', { groups: [] });
    expect(rest.body).to.deep.include({ warning: null });
    const asked = `/routes/explain?account_id=${world.account}&to=`;
    const refused = await world.get(`${asked}4915112345678`);
    expect(refused.body).to.include({ outcome: 'refused', route_id: 'rest' });
    expect((await world.get(`${asked}919876543210`)).body).to.include({ route_id: 'india' });
    expect((await world.get(`${asked}x`)).body.errors[0].field).to.equal('to');

    const unknown = await world.put('/routes/india', { groups: [[{ carrier: 'vodafone' }]] });
    expect(unknown.body.errors[0].detail).to.match(/no carrier vodafone/);
    expect(unknown.body.errors[0].field).to.equal('groups');
    const odd = {
      accounts: [`acc_${'0'.repeat(26)}`],
      countries: ['XX'],
      routes: ['promotional'],
      priorities: ['otp'],
    };
    const matchless = await world.put('/routes/india', { matches: odd, groups });
    expect(matchless.body.errors.map(({ field }: { field: string }) => field)).to.have.members([
      'matches.accounts',
      'matches.countries',
      'matches.priorities',
    ]);
    expect((await world.put('/routes/UP', { groups: [] })).status).to.equal(400);
    expect((await world.get('/routes')).body.routes).to.have.length(2);
    for (const name of ['india', 'rest']) expect((await world.delete(`/routes/${name}`)).status).to.equal(200);
    expect((await world.delete('/routes/india')).body.code).to.equal('route_not_found');
    expect(await world.lastAudit()).to.include({ action: 'route.remove' });
  });
});
