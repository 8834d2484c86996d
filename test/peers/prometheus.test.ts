import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freePort } from '../../scripts/bench/free-port.ts';
import { debianProgram } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, startProduct } from '../support/product.ts';

const SHIPPED = join(import.meta.dirname, '../../docs/monitoring');
const CASES = join(import.meta.dirname, 'prometheus/alerts.test.yml');
/** A process tells its figures every ten seconds, and they are shown up to five seconds late. */
const FIGURES_MS = 60_000;

/** Debian's Prometheus with the shipped configuration, which scrapes this port every second. */
interface Prometheus {
  /** The alerts that fire or are about to, as `name labels`. */
  alerts(): Promise<readonly string[]>;
  /** The values of an expression, by their labels. */
  query(expression: string): Promise<readonly { readonly metric: object; readonly value: string }[]>;
  /** What it says of each rule: `ok`, or else the rule cannot be computed. */
  rules(): Promise<readonly string[]>;
  close(): Promise<void>;
}

async function startPrometheus(metricsPort: number): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'harkara-prometheus-'));
  cpSync(SHIPPED, folder, { recursive: true });
  const configuration = join(folder, 'prometheus.yml');
  const shipped = readFileSync(configuration, 'utf8');
  const changed = shipped.replaceAll('15s', '1s').replace('127.0.0.1:9464', `127.0.0.1:${metricsPort}`);
  expect(changed).to.include(`"127.0.0.1:${metricsPort}"`).and.to.include('evaluation_interval: 1s');
  writeFileSync(configuration, changed);
  const port = await freePort();
  const child = spawn(
    await debianProgram('prometheus', 'prometheus'),
    [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { cwd: folder, stdio: 'ignore' },
  );
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, { signal: AbortSignal.timeout(10_000) });
    const { data } = (await answer.json()) as { data: Answered };
    return data;
  };
  await eventually(() => ask('rules').catch(() => false), 'Prometheus answers', FIGURES_MS);
  return {
    alerts: async () => (await ask('alerts')).alerts.map(({ labels }) => nameOf(labels)),
    query: async (expression) => {
      const { result } = await ask(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ metric, value: [, value] }) => ({ metric, value }));
    },
    rules: async () => (await ask('rules')).groups.flatMap(({ rules }) => rules.map(({ health }) => health)),
    close: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Of its HTTP API, https://prometheus.io/docs/prometheus/latest/querying/api/. */
interface Answered {
  readonly alerts: readonly { readonly labels: Labels }[];
  readonly groups: readonly { readonly rules: readonly { readonly health: string }[] }[];
  readonly result: readonly { readonly metric: object; readonly value: readonly [number, string] }[];
}
type Labels = Readonly<Record<string, string>>;

function nameOf({ alertname = '', carrier = '', app = '' }: Labels): string {
  return [alertname, carrier, app].filter((part) => part !== '').join(' ');
}

describe('the alerts of docs/monitoring', function () {
  this.timeout(240_000);

  it('fire where they must, and not beside it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'harkara-promtool-'));
    const cases = join(folder, 'alerts.test.yml');
    writeFileSync(cases, readFileSync(CASES, 'utf8').replace('- ALERTS', `- ${join(SHIPPED, 'alerts.yml')}`));
    const promtool = await debianProgram('promtool', 'prometheus');
    try {
      const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', cases]);
      expect(stdout).to.include('SUCCESS');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('have a case each', () => {
    const names = (path: string, pattern: RegExp) =>
      [...new Set([...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name]) => name))].sort();

    expect(names(CASES, /alertname="(\w+)"/g)).to.deep.equal(names(join(SHIPPED, 'alerts.yml'), /alert: (\w+)/g));
  });

  describe('in Prometheus, before a product with two gateways', () => {
    let product: Product;
    let prometheus: Prometheus;
    before(async () => {
      const metricsPort = await freePort();
      product = await startProduct({ chatapp: {}, metricsPort, carrier: { name: 'Acme' } });
      prometheus = await startPrometheus(metricsPort);
    });
    after(async () => {
      await prometheus?.close();
      await product?.stop();
    });

    it('none is there while all is well, and one when the carrier goes away', async () => {
      const binds = async () => (await prometheus.query('harkara_smpp_binds')).map(({ value }) => value);
      await eventually(async () => (await binds()).join() === '1', 'the bind is told', FIGURES_MS);
      const missing = 'absent(harkara_processes{app="chatapp"}) or absent(harkara_processes{app="background"})';
      await eventually(async () => (await prometheus.query(missing)).length === 0, 'all have told', FIGURES_MS);
      await eventually(async () => (await prometheus.alerts()).length === 0, 'no alert', FIGURES_MS);
      expect(new Set(await prometheus.rules())).to.deep.equal(new Set(['ok']));

      await product.smsc.close();
      await eventually(async () => (await prometheus.alerts()).length > 0, 'an alert', FIGURES_MS);
      const [alert, ...others] = await prometheus.alerts();
      expect(alert).to.match(/^HarkaraBindDown \w/);
      expect(others).to.deep.equal([]);
    });

    it('the end of a gateway makes no request of the other one new', async () => {
      // At once, so that they come over many connections.
      const answers = await Promise.all(Array.from({ length: 40 }, () => product.get('/v2/balance')));
      expect(answers.every(({ status }) => status === 200)).to.equal(true);
      const requests = 'harkara_http_requests_total{route="/v2/balance"}';
      const told = async () => Number((await prometheus.query(`sum(${requests})`))[0]?.value ?? 0);
      await eventually(async () => (await told()) === 40, '40 requests are told', FIGURES_MS);

      const processes = async () => (await prometheus.query(requests)).length;
      expect(await processes()).to.equal(2);
      const grown = async () => Number((await prometheus.query(`sum(increase(${requests}[30s]))`))[0]?.value);
      // A gateway may have told its requests in two parts.
      await eventually(async () => (await grown()) === 0, 'all were told more than 30 s ago', FIGURES_MS);

      await product.kill('gateway');
      await eventually(async () => (await processes()) === 1, 'one is left', FIGURES_MS);

      expect(await grown()).to.equal(0);
    });
  });
});
