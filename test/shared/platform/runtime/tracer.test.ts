import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { type Span, spanOfCaller, Tracer } from '../../../../shared/platform/runtime/tracer.ts';
import { eventually } from '../../../support/eventually.ts';
import { silentLog as log } from '../../../support/silent-log.ts';

const WAITING_MAX = 8_192;

describe('the tracer', () => {
  let collector: Server;
  let tracer: Tracer;
  let metrics: Metrics;
  let url: string;
  /** The collector's answer; undefined: none. */
  let status: number | undefined;
  let posts: number[];

  beforeEach(async () => {
    status = 200;
    posts = [];
    collector = createServer((req, res) => {
      let text = '';
      req.on('data', (chunk) => {
        text += String(chunk);
      });
      req.on('end', () => {
        posts.push(JSON.parse(text).resourceSpans[0].scopeSpans[0].spans.length);
        if (status === undefined) req.socket.destroy();
        else res.writeHead(status).end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`; // it listens on a port
    metrics = new Metrics();
    tracer = new Tracer({ url, percent: 100, app: 'test', instance: 'a/1', log, metrics });
  });
  afterEach(async () => {
    await tracer.stop();
    collector.closeAllConnections();
    collector.close();
  });

  const spans = (count: number): readonly Span[] =>
    Array.from({ length: count }, (_, i) => {
      const at = new Date();
      return {
        trace: newId('msg'),
        key: String(i),
        name: 'queue',
        kind: 'internal',
        start: at,
        end: at,
        attributes: {},
      };
    });
  const counted = async (result: string): Promise<number> => {
    const [metric] = await metrics.registry.getMetricsAsJSON();
    return metric?.values.find(({ labels }) => labels.result === result)?.value ?? 0;
  };

  it('keeps spans while the collector is away, up to its most, and sends them when it is back', async () => {
    status = undefined;

    tracer.add(spans(WAITING_MAX));
    await eventually(() => posts.length > 0, 'a post');
    tracer.add(spans(10));
    expect(await counted('dropped')).equal(10);
    status = 200;

    await eventually(async () => (await counted('sent')) === WAITING_MAX, 'all are sent');
    expect(Math.max(...posts)).equal(256);
  });

  it('drops what the collector refuses for good', async () => {
    status = 400;
    tracer.add(spans(3));
    await eventually(async () => (await counted('refused')) === 3, 'refused');
    expect(posts).eql([3]);
  });

  it('sends at a stop what is left', async () => {
    tracer.add(spans(300));
    await tracer.stop();
    expect(await counted('sent')).equal(300);
  });

  it('records the same share of traces in every process', () => {
    const options = { url, percent: 10, app: 'other', instance: 'a/2', log };
    const [one, other] = [1, 2].map(() => new Tracer({ ...options, metrics: new Metrics() }));
    const ids = Array.from({ length: 5_000 }, () => newId('msg'));

    const recorded = ids.filter((id) => one?.records(id));

    expect(recorded).eql(ids.filter((id) => other?.records(id)));
    expect(recorded.length).within(350, 650);
  });

  it('reads traceparent, and nothing that is not well-formed', () => {
    const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    expect(spanOfCaller(`00-${traceId}-${spanId}-01`)).eql({ traceId, spanId });
    expect(spanOfCaller(`01-${traceId}-${spanId}-00-more`), 'of a later version').eql({ traceId, spanId });
    for (const bad of [
      `ff-${traceId}-${spanId}-01`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-01`,
      'x',
      undefined,
    ]) {
      expect(spanOfCaller(bad), bad).equal(undefined);
    }
  });
});
