import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { freePort } from '../../scripts/bench/fleet.ts';
import { debianProgram } from './debian.ts';
import { eventually } from './eventually.ts';

const CONFIGURATIONS = join(import.meta.dirname, '../../docs/proxy');
const START_MS = 60_000;

/** A proxy of docs/proxy with its shipped configuration, before a test's gateway. */
export interface ProxyProcess {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * nginx or HAProxy as docs/proxy configures it, except for ports, file places, no change of user, and a tenth of
 * nginx's rate, so that a flood exceeds it on a slow machine too. Fails if the configuration lacks something to
 * replace.
 */
export async function startProxy(kind: 'nginx' | 'haproxy', gatewayPort: number): Promise<ProxyProcess> {
  const folder = mkdtempSync(join(tmpdir(), `${kind}-`));
  const port = await freePort();
  await makeCertificate(folder);
  const file = join(folder, 'proxy.conf');
  const replaced = kind === 'nginx' ? nginx(folder, port, gatewayPort) : haproxy(folder, port, gatewayPort);
  const shipped = readFileSync(join(CONFIGURATIONS, kind === 'nginx' ? 'nginx.conf' : 'haproxy.cfg'), 'utf8');
  writeFileSync(
    file,
    Object.entries(replaced).reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`the configuration of ${kind} has no "${from}"`);
      return text.replaceAll(from, to);
    }, shipped),
  );
  const started = kind === 'nginx' ? ['-c', file, '-g', 'daemon off;'] : ['-db', '-f', file];
  const child = spawn(await debianProgram(kind, kind), started, { cwd: folder });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  await eventually(() => accepts(port, child, () => said), `${kind} accepts connections`, START_MS);
  return {
    port,
    close: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function nginx(folder: string, port: number, gatewayPort: number): Readonly<Record<string, string>> {
  return {
    'user www-data;': '',
    'worker_processes auto;': 'worker_processes 1;',
    '/run/nginx.pid': `${folder}/nginx.pid`,
    '/var/log/nginx/error.log': 'stderr',
    '/etc/nginx/harkara': `${folder}/proxy`,
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    'server 127.0.0.1:3000': `server 127.0.0.1:${gatewayPort}`,
    'rate=200r/s': 'rate=20r/s',
  };
}

function haproxy(folder: string, port: number, gatewayPort: number): Readonly<Record<string, string>> {
  return {
    '    user haproxy\n    group haproxy\n': '',
    '    log /dev/log local0\n': '',
    '/etc/haproxy/harkara.pem': `${folder}/proxy.pem`,
    'bind :443': `bind 127.0.0.1:${port}`,
    'server local 127.0.0.1:3000': `server local 127.0.0.1:${gatewayPort}`,
    'sc0_http_req_rate gt 200': 'sc0_http_req_rate gt 40',
  };
}

/** `proxy.crt`, `proxy.key`, and both in `proxy.pem`. */
async function makeCertificate(folder: string): Promise<void> {
  const [crt, key] = [join(folder, 'proxy.crt'), join(folder, 'proxy.key')];
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=api.example.com';
  await promisify(execFile)(await debianProgram('openssl', 'openssl'), [
    ...words.split(' '),
    '-out',
    crt,
    '-keyout',
    key,
  ]);
  writeFileSync(join(folder, 'proxy.pem'), readFileSync(crt, 'utf8') + readFileSync(key, 'utf8'));
}

async function accepts(port: number, child: ChildProcess, said: () => string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`it has ended with ${child.exitCode}: ${said()}`);
  const socket = openTls(port, '127.0.0.1');
  const stands = await Promise.race([
    once(socket, 'secureConnect').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return stands;
}

/** Connects to the proxy from a local address; all of 127.0.0.0/8 are local. */
export function openTls(port: number, from: string): TLSSocket {
  const options = { host: '127.0.0.1', port, localAddress: from, ALPNProtocols: ['http/1.1'] };
  // The certificate was made for this test, so no authority is asked.
  return connectTls({ ...options, rejectUnauthorized: false }).on('error', () => {}); // a reset shows as `close`
}

/** Sends bytes and returns everything received until the proxy closed or `patienceMs` passed. */
export async function exchange(port: number, from: string, bytes: string, patienceMs = 60_000): Promise<string> {
  const socket = openTls(port, from);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.write(bytes);
  const timer = setTimeout(() => socket.destroy(new Error('not closed')), patienceMs);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(timer);
  return received;
}

/** The statuses of all answers, in order. */
export function statusesIn(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
