import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/bench/fleet.ts';
import { type Smsc, startSmsc } from '../../scripts/simulator/smsc.ts';
import { debianProgram } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type CapturedFrame, writePcap } from '../support/pcap.ts';
import { dissect } from '../support/tshark.ts';

/** Kannel starts in a second or two, but connects later on a busy machine. */
const START_MS = 60_000;

interface Ports {
  readonly admin: number;
  readonly smsbox: number;
  readonly sendsms: number;
}

/** Kannel cannot choose free ports itself. */
async function freePorts(): Promise<Ports> {
  return { admin: await freePort(), smsbox: await freePort(), sendsms: await freePort() };
}

function configuration(ports: Ports, smppPort: number): string {
  return `
group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = admin
smsbox-port = ${ports.smsbox}
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = internal

group = smsc
smsc = smpp
smsc-id = simulator
host = 127.0.0.1
port = ${smppPort}
transceiver-mode = true
smsc-username = kannel
smsc-password = secret
system-type = ""
interface-version = 34
enquire-link-interval = 1
reconnect-delay = 1

group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = ${ports.smsbox}
sendsms-port = ${ports.sendsms}
sendsms-interface = 127.0.0.1

group = sendsms-user
username = tester
password = secret
max-messages = 10
concatenation = true

group = sms-service
keyword = default
text = "thanks"
max-messages = 1
omit-empty = true
`;
}

describe('the simulator and Kannel', () => {
  let smsc: Smsc;
  let receipts: Server;
  let ports: Ports;
  const told: string[] = [];
  const frames: CapturedFrame[] = [];
  const children: ChildProcess[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'kannel-'));
  let output = '';

  async function start(program: string, config: string): Promise<void> {
    const child = spawn(await debianProgram(program, 'kannel'), ['-v', '1', config], { cwd: folder });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    children.push(child);
  }

  /** Sends one message by Kannel's HTTP interface. Its receipts come as `/dlr/<name>/<type>/<destination>`. */
  async function send(name: string, to: string, text: string, coding: 0 | 2): Promise<void> {
    const dlrUrl = `http://127.0.0.1:${(receipts.address() as AddressInfo).port}/dlr/${name}/%d/%p`;
    const query = new URLSearchParams({
      ...{ username: 'tester', password: 'secret', from: 'ACMEIN', to, text, charset: 'UTF-8' },
      ...{ coding: String(coding), 'dlr-mask': '3', 'dlr-url': dlrUrl },
    });
    const answer = await fetch(`http://127.0.0.1:${ports.sendsms}/cgi-bin/sendsms?${query}`);
    expect(answer.status).equal(202);
  }

  before(async function () {
    this.timeout(2 * START_MS);
    smsc = await startSmsc({
      receiptDelayMs: 20,
      systemId: 'kannel',
      password: 'secret',
      onFrame: (direction, bytes, sessionId) => frames.push({ direction, bytes: Buffer.from(bytes), sessionId }),
    });
    receipts = createServer((request, response) => {
      told.push(request.url ?? '');
      response.end('ok');
    });
    await once(receipts.listen(0, '127.0.0.1'), 'listening');
    ports = await freePorts();
    const config = join(folder, 'kannel.conf');
    writeFileSync(config, configuration(ports, smsc.port));
    await start('bearerbox', config);
    await eventually(() => smsc.sessions().some(({ kind }) => kind === 'transceiver'), 'a bind', START_MS);
    await start('smsbox', config);
    const alive = () => fetch(`http://127.0.0.1:${ports.sendsms}/`).then(() => true);
    await eventually(alive, `smsbox's HTTP interface`, START_MS);
  });

  after(async () => {
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    receipts?.close();
    await smsc?.close();
    rmSync(folder, { recursive: true });
  });

  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.error(output.split('\n').slice(-40).join('\n'));
  });

  it('bind as transceiver and keep the line alive', async () => {
    expect(smsc.sessions()).deep.include({
      id: 1,
      systemId: 'kannel',
      kind: 'transceiver',
      outstanding: 0,
      unanswered: 0,
    });
    await eventually(() => frames.some(({ bytes }) => bytes.readUInt32BE(4) === 0x15), 'an enquire_link', START_MS);
  });

  it('send 200 characters as two segments, and the HTTP receipt says delivered', async () => {
    const text = 'Dear Customer, your order 4711 has left our store. '.repeat(4).slice(0, 200);

    await send('long', '919876543000', text, 0);

    await eventually(() => told.includes('/dlr/long/1/919876543000'), 'the receipt', START_MS);
    const whole = smsc.texts().find(({ to }) => to === '919876543000');
    expect(whole?.text).equal(text);
    expect(whole?.parts).length(2);
  });

  it('send Hindi as UCS-2, and the HTTP receipt says undelivered where the number says so', async () => {
    await send('hindi', '919876543101', 'नमस्ते 😀', 2);

    await eventually(() => told.includes('/dlr/hindi/2/919876543101'), 'the receipt', START_MS);
    expect(smsc.texts().find(({ to }) => to === '919876543101')?.text).equal('नमस्ते 😀');
  });

  it('come to terms about a message from a phone', async () => {
    // Its HTTP receipt may come before its deliver_sm_resp.
    await eventually(() => smsc.stats().pending === 0, 'earlier receipts are acknowledged', START_MS);
    const before = smsc.stats().deliveries.acknowledged;

    smsc.sendMo({ from: '919876543210', to: '56767', text: 'STOP' });

    await eventually(() => smsc.stats().deliveries.acknowledged === before + 1, 'the answer', START_MS);
    await eventually(
      () => smsc.texts().some(({ to, text }) => to === '919876543210' && text === 'thanks'),
      'a reply',
      START_MS,
    );
  });

  it('bind again after the connection broke', async () => {
    const { binds } = smsc.stats();

    smsc.cutSessions();

    await eventually(() => smsc.stats().binds === binds + 1, 'another bind', START_MS);
  });

  it('said nothing that tshark finds wrong', async () => {
    const file = join(folder, 'capture.pcap');

    // Kannel's binds go on meanwhile.
    const said = [...frames];
    await writePcap(said, file, smsc.port);
    const { pdus, malformed } = await dissect(file, smsc.port);

    expect(malformed).deep.equal([]);
    expect(pdus).length(said.length).above(10);
  });
});
