import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../scripts/bench/fleet.ts';
import { debianProgram } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type Product, startProduct } from '../support/product.ts';

const execute = promisify(execFile);

/** A foreign OpenTelemetry collector, written in Rust; the package contains the program. */
const PIP = 'rotel==0.0.1a15';
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

/** A span as the collector shows it. */
interface Seen {
  readonly service: string;
  readonly trace: string;
  readonly parent: string;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

describe('traces beside the collector rotel', function () {
  this.timeout(120_000);
  const folder = mkdtempSync(join(tmpdir(), 'harkara-traces-'));
  const closers: (() => Promise<unknown>)[] = [];
  let printed = '';
  let product: Product;

  before(async () => {
    await execute(await debianProgram('python3', 'python3'), ['-m', 'venv', folder]);
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    await execute(join(folder, 'bin/pip'), ['install', ...quiet, PIP]);
    const { stdout } = await execute(join(folder, 'bin/python'), ['-c', 'import rotel; print(rotel.__path__[0])']);
    const [http, grpc] = [await freePort(), await freePort()];
    const listens = ['--otlp-http-endpoint', `127.0.0.1:${http}`, '--otlp-grpc-endpoint', `127.0.0.1:${grpc}`];
    const shows = ['--exporter', 'blackhole', '--debug-log', 'traces', '--debug-log-verbosity', 'detailed'];
    const child = spawn(join(stdout.trim(), 'rotel-agent'), ['start', ...listens, ...shows]);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        printed += String(chunk);
      });
    }
    closers.push(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    });
    await eventually(() => printed.includes('Starting Rotel'), 'the collector listens');
    product = await startProduct({ otlpUrl: `http://127.0.0.1:${http}/v1/traces` });
    closers.push(() => product.stop());
  });
  after(async () => {
    for (const close of closers.reverse()) await close();
    rmSync(folder, { recursive: true, force: true });
  });

  function seen(): readonly Seen[] {
    return printed.split(/^ResourceSpans #/m).flatMap((resource) => {
      const service = /service\.name: Str\((.*)\)/.exec(resource)?.[1] ?? '';
      return resource
        .split(/^Span #/m)
        .slice(1)
        .map((text) => {
          const field = (name: string) => new RegExp(`^ +${name} +: (\\w*(?: [\\w./]+)*)$`, 'm').exec(text)?.[1] ?? '';
          return {
            service,
            trace: field('Trace ID'),
            parent: field('Parent ID'),
            id: field('ID'),
            name: field('Name'),
            text,
          };
        });
    });
  }

  it('shows one trace from the request to the post, of three processes, with a link to the caller', async () => {
    const body = { to: '919876543210', message: 'Your code is 4711', sender: 'HARKRA', route: 'transactional' };
    const traceparent = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
    const answer = await product.post('/v2/send', body, { traceparent });
    const id = String(answer.body.message_id);
    const names = [
      'POST /v2/send',
      'message',
      'queue',
      'receipt',
      'submit',
      'webhook message.delivered',
      'webhook message.sent',
    ];

    const spans = await eventually(() => {
      const found = seen().filter(({ text }) => text.includes(`Str(${id})`));
      if (found.length < names.length) throw new Error(found.map(({ name }) => name).join());
      return found;
    }, 'all spans');

    expect(spans.map(({ name }) => name).sort()).eql(names);
    expect(new Set(spans.map(({ trace }) => trace))).to.have.length(1);
    expect(new Set(spans.map(({ service }) => service))).to.have.keys(
      'harkara-gateway',
      'harkara-smpp',
      'harkara-webhooks',
    );
    const root = spans.find(({ name }) => name === 'message');
    for (const span of spans) expect(span.parent, span.name).equal(span === root ? '' : root?.id);
    const request = spans.find(({ name }) => name.startsWith('POST'));
    expect(request?.text).to.include(`Trace ID: ${CALLER.traceId}`).and.to.include(`ID: ${CALLER.spanId}`);
    const posts = product.receiver.received().filter(({ json }) => json.message_id === id);
    const ours = spans.filter(({ name }) => name.startsWith('webhook')).map((span) => `00-${span.trace}-${span.id}-01`);
    expect(posts.map(({ headers }) => headers.traceparent)).to.have.members(ours);
    expect(printed).not.to.include(body.to).and.not.to.include('4711');
  });
});
