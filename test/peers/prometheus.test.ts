import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../scripts/bench/fleet.ts';
import { CONDITIONS, READ } from '../../shared/conditions/catalogue.ts';
import { debianProgram } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, startProduct } from '../support/product.ts';

const SHIPPED = join(import.meta.dirname, '../../docs/monitoring');
/** A process reports its figures every ten seconds, and they are shown up to five seconds late. */
const FIGURES_MS = 60_000;

/** Debian's Prometheus with the shipped configuration; it scrapes this port every second. */
interface Prometheus {
  /** Firing or pending alerts, as `name labels`. */
  alerts(): Promise<readonly string[]>;
  query(expression: string): Promise<readonly { readonly metric: object; readonly value: string }[]>;
  /** Each rule's health: `ok`, or it cannot be computed. */
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

/** https://prometheus.io/docs/prometheus/latest/querying/api/ */
interface Answered {
  readonly alerts: readonly { readonly labels: Labels }[];
  readonly groups: readonly { readonly rules: readonly { readonly health: string }[] }[];
  readonly result: readonly { readonly metric: object; readonly value: readonly [number, string] }[];
}
type Labels = Readonly<Record<string, string>>;

function nameOf({ alertname = '', subject = '' }: Labels): string {
  return [alertname, subject].filter((part) => part !== '').join(' ');
}

describe('the alerts of docs/monitoring', function () {
  this.timeout(240_000);

  it('fire for each condition that concerns operators, and for nobody who looks', async () => {
    const up = { series: 'up{job="harkara", instance="a"}', values: '1x20' };
    const watched = { series: 'harkara_watched_at_seconds', values: '0+15x20' };
    const firing = 'count by (alertname, severity) (ALERTS{alertstate="firing"})';
    const expects = (name: string, series: readonly object[], ...alerts: readonly (readonly [string, string])[]) => ({
      ...{ name, interval: '15s', input_series: series },
      promql_expr_test: [
        {
          ...{ expr: firing, eval_time: '5m' },
          exp_samples: alerts.map(([alert, severity]) => ({
            labels: `{alertname="${alert}", severity="${severity}"}`,
            value: 1,
          })),
        },
      ],
    });
    const conditions = Object.entries(CONDITIONS).filter(
      ([name, one]) => 'operator' in one.concerns && !(name in READ),
    );
    const tests = [
      expects('all is well', [up, watched]),
      expects('no gateway answers', [{ ...up, values: '0x20' }], ['HarkaraDown', 'urgent']),
      expects('nobody looks', [up], ['HarkaraWatchStopped', 'urgent']),
      expects('nobody looks any more', [up, { ...watched, values: '0x20' }], ['HarkaraWatchStopped', 'urgent']),
      ...conditions.map(([name]) => {
        const series = `harkara_conditions{condition="${name}", severity="look", subject="airtel"}`;
        const alert = `Harkara${name.replaceAll(/(?:^|[._])(\w)/g, (_all, first: string) => first.toUpperCase())}`;
        return expects(name, [up, watched, { series, values: '1x20' }], [alert, 'look']);
      }),
    ];
    const folder = mkdtempSync(join(tmpdir(), 'harkara-promtool-'));
    const cases = join(folder, 'alerts.test.yml');
    // JSON is YAML.
    writeFileSync(
      cases,
      JSON.stringify({ rule_files: [join(SHIPPED, 'alerts.yml')], evaluation_interval: '15s', tests }),
    );
    const promtool = await debianProgram('promtool', 'prometheus');
    try {
      const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', cases]);
      expect(stdout).to.include('SUCCESS');
    } finally {
      rmSync(folder, { recursive: true });
    }
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

    it('each line of the dashboard for Grafana shows something, once a message went', async () => {
      expect((await product.send('919876543210', 'Hello')).status).to.equal(200);
      const empty = async (expressions: readonly string[]) => {
        const found = await Promise.all(expressions.map((one) => prometheus.query(one)));
        return expressions.filter((_, at) => found[at]?.length === 0);
      };
      // Nothing is wrong, nothing waits, and the chat app is unused.
      const quiet = [
        ...['harkara_conditions > 0', 'harkara_queue_messages', 'harkara_queue_oldest_seconds'],
        'sum by (result) (rate(harkara_chatapp_sends_total[1m]))',
      ];
      const shipped = readFileSync(join(SHIPPED, 'grafana.json'), 'utf8').replaceAll('$__rate_interval', '1m');
      const all = [...shipped.matchAll(/"expr":("(?:[^"\\]|\\.)*")/g)].map(([, expr = '']) => String(JSON.parse(expr)));
      const lines = all.filter((one) => !quiet.includes(one));
      expect(lines)
        .to.have.length(all.length - quiet.length)
        .and.to.have.length.above(10);

      await eventually(async () => (await empty(lines)).length === 0, 'every line shows something', FIGURES_MS).catch(
        async () => expect(await empty(lines)).to.deep.equal([]),
      );
    });

    it('none is there while all is well, and one when the carrier goes away', async () => {
      const binds = async () => (await prometheus.query('harkara_smpp_binds')).map(({ value }) => value);
      await eventually(async () => (await binds()).join() === '1', 'the bind is told', FIGURES_MS);
      const missing =
        'absent(harkara_processes{app="chatapp"}) or absent(harkara_processes{app="background"}) or absent(harkara_watched_at_seconds)';
      await eventually(async () => (await prometheus.query(missing)).length === 0, 'all have told', FIGURES_MS);
      await eventually(async () => (await prometheus.alerts()).length === 0, 'no alert', FIGURES_MS);
      expect(new Set(await prometheus.rules())).to.deep.equal(new Set(['ok']));

      await product.smsc.close();
      await eventually(async () => (await prometheus.alerts()).length > 0, 'an alert', FIGURES_MS);
      const [alert, ...others] = await prometheus.alerts();
      expect(alert).to.match(/^HarkaraCarrierDown \w/);
      expect(others).to.deep.equal([]);
    });

    it('the end of a gateway makes no request of the other one new', async () => {
      // At once, so that they use many connections.
      const answers = await Promise.all(Array.from({ length: 40 }, () => product.get('/v2/balance')));
      expect(answers.every(({ status }) => status === 200)).to.equal(true);
      const requests = 'harkara_http_requests_total{route="/v2/balance"}';
      const told = async () => Number((await prometheus.query(`sum(${requests})`))[0]?.value ?? 0);
      await eventually(async () => (await told()) === 40, '40 requests are told', FIGURES_MS);

      const processes = async () => (await prometheus.query(requests)).length;
      expect(await processes()).to.equal(2);
      const grown = async () => Number((await prometheus.query(`sum(increase(${requests}[30s]))`))[0]?.value);
      // A gateway may report its requests in two parts.
      await eventually(async () => (await grown()) === 0, 'all were told more than 30 s ago', FIGURES_MS);

      await product.kill('gateway');
      await eventually(async () => (await processes()) === 1, 'one is left', FIGURES_MS);

      expect(await grown()).to.equal(0);
    });
  });
});
