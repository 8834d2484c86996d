import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtProgram } from '../../support/built.ts';
import { eventually } from '../../support/eventually.ts';
import { ascii, HandClient, submit } from './hand-client.ts';

const SOURCE = join(import.meta.dirname, '../../../scripts/simulator/main.ts');

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** The exit code. */
  readonly ended: Promise<unknown>;
}

/** As `npm run simulator` starts it. */
function runSource(...argv: string[]): Run {
  return watched(fork(SOURCE, argv, { execArgv: ['--import', 'tsx'], silent: true }));
}

async function run(argv: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  const bundle = await builtProgram('simulator');
  return watched(fork(bundle, argv, { execArgv: [], silent: true, env: { ...process.env, ...env } }));
}

function watched(child: ChildProcess): Run {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output, ended: once(child, 'close').then(([code]) => code) };
}

describe('the simulator as a process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'));
  const running: Run[] = [];

  const PORTS = ['smsc', 'http-carrier', 'chatapp', 'webhook', 'mail'].flatMap((name) => [`--${name}-port`, '0']);
  const ready = async (...argv: string[]) => readyRun(await run([...PORTS, ...argv]));
  async function readyRun(started: Run): Promise<Run & { readonly smscPort: number; readonly url: string }> {
    running.push(started);
    const [message] = await once(started.child, 'message');
    expect(message).equal('ready');
    const found = await eventually(
      () => /SMSC on 127\.0\.0\.1:(\d+), chat-app provider on \S+, webhook receiver on (\S+)/.exec(started.output()),
      'the line with both addresses',
    );
    return { ...started, smscPort: Number(found?.[1]), url: found?.[2] ?? '' };
  }

  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
  });

  after(() => rmSync(folder, { recursive: true }));

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`says ready when both listen, and exits with 0 on ${signal} though clients are connected`, async () => {
      const { child, ended, smscPort } = await readyRun(runSource(...PORTS));
      const esme = await new HandClient(smscPort).bound();

      child.kill(signal);

      expect(await ended).equal(0);
      await eventually(() => esme.ended, 'the end of the connection');
    });
  }

  it('prints texts and webhooks, keeps an audit file, and shows counters', async () => {
    const log = join(folder, 'audit.jsonl');
    const { smscPort, url, output } = await ready('--log', log, '--receipt-delay', '1');

    const esme = await new HandClient(smscPort).bound();
    const tlvs = `1400 0003 ${ascii('123')}`;
    esme.write(submit(2, { esmClass: '40', data: `050003 01 02 01 ${ascii('Dear ')}`, tlvs }));
    esme.write(submit(3, { esmClass: '40', data: `050003 01 02 02 ${ascii('Asha')}`, tlvs }));
    await esme.have('80000004', 2);
    const audited = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    await fetch(`${url}/webhook`, { method: 'POST', body: '{"event":"message.sent"}' });
    const counters: unknown = await (await fetch(`${url}/smsc`)).json();
    const texts: unknown = await (await fetch(`${url}/texts`)).json();
    esme.close();

    expect(audited).length(2);
    expect(audited[0]).include({
      from: 'ACMEIN',
      to: '919876543000',
      udh: '050003010201',
      text: 'Dear ',
      data_coding: 0,
    });
    expect(audited[0].tlvs).deep.equal({ '0x1400': '313233' });
    expect(counters).nested.include({ 'submits.accepted': 2 });
    expect(texts).deep.equal([{ from: 'ACMEIN', to: '919876543000', text: 'Dear Asha', parts: 2 }]);
    await eventually(() => output().includes('sms     ACMEIN to 919876543000 (gsm7, 2 parts): Dear Asha'), 'the text');
    await eventually(() => output().includes('webhook message.sent · unsigned'), 'the webhook');
  });

  it('prints nothing about messages when quiet', async () => {
    const { smscPort, output } = await ready('--quiet');

    const esme = await new HandClient(smscPort).bound();
    esme.write(submit(2));
    await esme.have('00000005', 1);
    esme.close();

    expect(output().trimEnd().split('\n')).length(1);
  });

  it('reads .env like the processes of the product: a variable goes before it, unless it is empty', async () => {
    const file = join(folder, '.env');
    writeFileSync(file, 'HARKARA_SIMULATOR_SMSC_PORT=of-the-file\nHARKARA_SIMULATOR_RATE=of-the-file\n');

    const port = await run([], {
      HARKARA_ENV_FILE: file,
      HARKARA_SIMULATOR_SMSC_PORT: '',
      HARKARA_SIMULATOR_RATE: '1',
    });
    const rate = await run([], { HARKARA_ENV_FILE: file, HARKARA_SIMULATOR_SMSC_PORT: '0' });
    running.push(port, rate);

    expect([await port.ended, await rate.ended]).deep.equal([2, 2]);
    expect(port.output()).include('--smsc-port must be a whole number').and.include('"of-the-file"');
    expect(rate.output()).include('--rate must be a whole number').and.include('"of-the-file"');
  });

  it('ends with a sentence when its port is taken or a setting is wrong', async () => {
    const { smscPort } = await ready();

    const second = await run(['--smsc-port', String(smscPort), '--chatapp-port', '0', '--webhook-port', '0']);
    const wrong = await run(['--rate', 'fast']);

    expect(await second.ended).equal(1);
    expect(second.output()).include('EADDRINUSE').and.include('is another simulator running?');
    expect(await wrong.ended).equal(2);
    expect(wrong.output()).include('--rate must be a whole number');
  });
});
