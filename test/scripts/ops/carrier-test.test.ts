import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startHttpCarrier } from '../../../scripts/simulator/http-carrier.ts';
import type { SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { Metrics } from '../../../shared/platform/runtime/metrics.ts';
import { createSecretBox, loadSecretKeys } from '../../../shared/platform/runtime/secret-box.ts';
import { SmppWorker } from '../../../workers/smpp/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { pdu, startHostileCarrier } from '../../support/hostile-carrier.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { silentLog } from '../../support/silent-log.ts';
import { use } from '../../support/use.ts';

const TO = '919876543210';

describe('npm run ops: carrier test', () => {
  const world = use(() => OpsWorld.open());
  let smsc: Smsc;
  let worker: SmppWorker | undefined;
  before(async () => {
    process.env.HARKARA_SMPP_PASSWORD = 'pa55word';
  });
  after(async () => {
    delete process.env.HARKARA_SMPP_PASSWORD;
  });
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
    await smsc.close();
    await world.store.db.collection('carriers').deleteMany({});
  });

  const start = async (options: Partial<SmscOptions> = {}, settings = ''): Promise<void> => {
    smsc = await startSmsc({ receiptDelayMs: 50, ...options });
    await world.json(
      `carrier create acme --host 127.0.0.1 --port ${smsc.port} --system-id us ${settings}`.trim().split(' '),
    );
  };
  const startWorker = async (): Promise<void> => {
    worker = new SmppWorker({
      ...{ db: world.store.db, clock: systemClock, log: silentLog, metrics: new Metrics(), pollMs: 50 },
      box: createSecretBox(loadSecretKeys('', world.dir)),
    });
    worker.start();
    await eventually(
      async () => (await world.run('carrier list')).out.includes('bound (1 of 1)'),
      'the worker is bound',
    );
  };
  const test = (...more: string[]) => world.run(['carrier', 'test', 'acme', '--to', TO, ...more]);

  it('without a worker: binds as it would, and shows every PDU, the answer and the receipt', async () => {
    await start({ defaultAlphabet: 'latin1' }, '--alphabet latin1');

    const { code, out } = await test('--text', 'é £ @');

    expect(code).to.equal(0);
    expect(out).to.match(/→ bind_transceiver #1 .*system_id="us" password=\(not shown\)/);
    expect(out).to.match(/← bind_transceiver_resp #1 0x00 Accepted/);
    expect(out).to.match(/→ submit_sm #2 .*source_addr="HARKRA".*short_message=x'e920a32040'/);
    expect(out).to.match(/← submit_sm_resp #2 0x00 Accepted message_id="/);
    expect(out).to.match(/← deliver_sm #\d+ /);
    expect(out).to.match(/ok {2}receipt: delivered after \d+ ms$/m);
    expect(out).not.to.include('pa55word');
    expect(smsc.texts().map(({ text }) => text)).to.deep.equal(['é £ @']);
    const entry = await world.store.db.collection('audit').findOne({ action: 'carrier.test' });
    expect(entry).to.deep.include({ subject: { kind: 'carrier', id: 'acme' } });
    expect(JSON.stringify(entry)).not.to.include(TO);
  });

  it('beside a bound worker: only transmits, and its receipt is read where the worker keeps it', async () => {
    await start();
    await startWorker();
    const binds = smsc.stats().binds;

    const { code, out } = await test();

    expect(code).to.equal(0);
    expect(out).to.include('→ bind_transmitter #1').and.not.to.include('← deliver_sm');
    expect(out).to.match(/receipt: delivered after \d+ ms, brought to the worker/);
    expect(smsc.stats()).to.include({ binds: binds + 1, refusedBinds: 0 });
    expect((await world.run('carrier list')).out).to.include('bound (1 of 1)');
  });

  it('a long text goes as the settings say, and each segment is answered', async () => {
    await start({}, '--long-text sar');

    const { out } = await test('--text', 'x'.repeat(200));

    expect(out).to.match(/sar_total_segments=2/);
    expect(out).to.match(/ok {2}submit: 2 segment\(s\) accepted/);
    expect(smsc.texts().map(({ text }) => text)).to.deep.equal(['x'.repeat(200)]);
  });

  it('a refusal is told in words, and nothing more is sent', async () => {
    await start({ behaviour: () => ({ status: 0x0b }) });

    const { code, out } = await test('--text', 'x'.repeat(200));

    expect(code).to.equal(1);
    expect(out).to.match(/NO {2}submit: segment 1 got 0x0B, Invalid destination address: /);
    expect(smsc.stats().submits.submitted).to.equal(1);
  });

  it('0x45 to a message without DLT ids says that these are missing', async () => {
    await start({ behaviour: () => ({ status: 0x45 }) }, '--dlt 0x1400,0x1401');

    const ids = ['--template', '1107160000000012345', '--entity', '1101456789012345678'];
    expect((await test()).out).to.match(/submit: segment 1 got 0x45, .*Carriers in India refuse so/);
    expect((await test(...ids)).out).to.match(/submit: segment 1 got 0x45, [^.]+$/m);
  });

  it('a refused bind is told in words', async () => {
    await start({ password: 'other' });
    expect((await test()).out).to.match(/NO {2}bind: refused with 0x0E, Invalid password/);
  });

  it('a receipt that does not come is told', async () => {
    await start({ behaviour: () => ({ receipts: [] }) });

    const { code, out } = await test('--wait-seconds', '0');

    expect(code).to.equal(1);
    expect(out).to.include('NO  receipt: none came');
  });

  it('a receipt of another message is refused for now, so that the worker gets it', async () => {
    await start({ behaviour: () => ({ receipts: [] }), retryDelayMs: 3_000 });
    const ended = test('--wait-seconds', '10');
    await eventually(() => smsc.stats().binds === 1, 'the test is bound');
    smsc.sendMo({ systemId: 'us', from: TO, to: '56161', text: 'STOP' });
    const { out } = await ended;

    expect(out).to.match(/→ deliver_sm_resp #\d+ 0x14 /);
    expect(smsc.stats().pending).to.equal(1);
  });

  it('an unknown carrier, and an unfit sender, are told before anything is sent', async () => {
    await start();

    expect((await world.run(`carrier test none --to ${TO}`)).err).to.include('no carrier "none"');
    expect((await test('--from', 'TWELVELETTRS')).err).to.include('nothing was sent');
    expect(smsc.stats().binds).to.equal(0);
  });

  it('over HTTPS: shows the request, the answer and no password, in whatever form the request has it', async () => {
    await start();
    const carrier = await startHttpCarrier({ user: 'us', password: 'pa55word' });
    const web = `--preset twilio-http --host 127.0.0.1 --port ${carrier.port} --tls no --system-id us`;
    const form = 'To={to},From={sender},Body={text},key={password},basic={basic}';
    await world.json(['carrier', 'create', 'web', ...web.split(' '), '--request-form', form]);

    const { out } = await world.run(['carrier', 'test', 'web', '--to', TO, '--wait-seconds', '0']);
    await carrier.close();

    expect(carrier.messages()).to.have.length(1);
    expect(out).to.match(
      /→ POST http:\/\/127\.0\.0\.1:\d+\/2010-04-01\/Accounts\/us\/Messages\.json To=%2B919876543210&/,
    );
    expect(out).to.match(/← HTTP 201 .*"sid"/);
    for (const form of ['pa55word', Buffer.from('us:pa55word').toString('base64').replaceAll('=', '')]) {
      expect(out).not.to.include(form);
    }
  });

  it('over HTTPS: shows no password either where the answer repeats the request', async () => {
    await start();
    const server = createServer((req, res) => void req.resume().on('end', () => res.writeHead(404).end(req.url)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo; // it listens on a port
    const web = `--preset twilio-http --host 127.0.0.1 --port ${port} --tls no --system-id us --request-method GET`;
    await world.json(['carrier', 'create', 'web', ...web.split(' '), '--request-path', '/send/{password}']);

    const { out } = await world.run(['carrier', 'test', 'web', '--to', TO, '--wait-seconds', '0']);
    server.close();

    expect(out).to.include('← HTTP 404 /send/NOT-SHOWN?').and.not.to.include('pa55word');
  });

  it('a carrier that accepts without an id: says so, and not that the receipt is late', async () => {
    await start();
    const idless = await startHostileCarrier({ answer: (sequence) => pdu(0x80000004, 0, sequence, '00') });
    await world.run(`carrier update acme --port ${idless.port}`);

    const { code, out } = await test('--wait-seconds', '1');
    await idless.close();

    expect(code).to.equal(1);
    expect(out).to.match(/NO {2}submit: accepted without an id; no receipt can find its message/);
    expect(out).not.to.include('--wait-seconds');
  });
});
