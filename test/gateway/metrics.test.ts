import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:net';
import { type Db, MongoClient } from 'mongodb';
import request from 'supertest';
import { createMetricsServer, listenForScrapes } from '../../gateway/metrics.ts';
import { type ProcessDocument, reportProcess } from '../../shared/platform/processes/report.ts';
import type { LogFields } from '../../shared/platform/runtime/log.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { openCountingDb } from '../support/counting-db.ts';
import { eventually } from '../support/eventually.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { silentLog } from '../support/silent-log.ts';
import { useStore } from '../support/store.ts';

describe('GET /metrics, on its own port', () => {
  const store = useStore();
  const servers: Server[] = [];
  const clock = new ManualClock(new Date());
  const serve = async (db: Db): Promise<string> => {
    const server = createMetricsServer({ db, clock, log: silentLog });
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  it('shows the figures of all processes as text', async () => {
    const metrics = new Metrics();
    metrics.counter('things_total', 'Things.', ['kind']).inc({ kind: 'good' });
    const report = await reportProcess('gateway', store.db, metrics, silentLog);

    const { status, headers, text } = await request(await serve(store.db)).get('/metrics');
    await report.end();

    expect(status).to.equal(200);
    expect(headers['content-type']).to.match(/^text\/plain/);
    expect(headers).to.include({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(text).to.match(/^harkara_things_total\{kind="good",process="[^"]+\/\d+"\} 1$/m);
    expect(text).to.include('harkara_processes{app="gateway"} 1');
  });

  it('the end of one process changes no count of another; what is now is summed', async () => {
    const processes = store.db.collection<ProcessDocument>('processes');
    const reportOf = async (pid: number, count: number): Promise<ProcessDocument> => {
      const metrics = new Metrics();
      metrics.counter('calls_total', 'Calls.').inc(count);
      metrics.gauge('calls_open', 'Open calls.').set(count);
      metrics.histogram('call_seconds', 'Calls.', [1], ['route']).observe({ route: '/a' }, count);
      const json = JSON.stringify(await metrics.registry.getMetricsAsJSON());
      return { _id: `vm@b#1/${pid}/1`, app: 'gateway', at: new Date(), works: true, metrics: json };
    };
    const scraped = async () => {
      const { text } = await request(await serve(store.db)).get('/metrics');
      return text.split('\n').filter((line) => /^harkara_call(s|_seconds_(count|bucket))/.test(line));
    };
    const [seven, eight] = [await reportOf(7, 3), await reportOf(8, 5)];
    const linesOf = (pid: number, count: number): readonly string[] => [
      `harkara_calls_total{process="vm/${pid}"} ${count}`,
      `harkara_call_seconds_bucket{le="1",route="/a",process="vm/${pid}"} 0`,
      `harkara_call_seconds_bucket{le="+Inf",route="/a",process="vm/${pid}"} 1`,
      `harkara_call_seconds_count{route="/a",process="vm/${pid}"} 1`,
    ];

    await processes.insertMany([seven, eight]);
    expect(await scraped()).to.have.members([...linesOf(7, 3), ...linesOf(8, 5), 'harkara_calls_open 8']);

    await processes.deleteOne({ _id: seven._id });
    expect(await scraped()).to.have.members([...linesOf(8, 5), 'harkara_calls_open 5']);
  });

  it('shows what a process counted until it ended, but not as a living one', async () => {
    const processes = store.db.collection<ProcessDocument>('processes');
    await processes.deleteMany({});
    const metrics = new Metrics();
    const counter = metrics.counter('things_total', 'Things.');
    metrics.gauge('things_open', 'Open things.').set(3);
    const report = await reportProcess('batches', store.db, metrics, silentLog);
    counter.inc(7); // since its last report
    await report.end();

    const { text } = await request(await serve(store.db)).get('/metrics');
    const ended = await processes.findOneAndUpdate({ app: 'batches' }, { $unset: { ended: true } });
    await processes.insertOne({
      ...ended,
      _id: `${ended?._id}1`,
      app: 'batches',
      at: new Date(),
      works: false,
      ended: true,
      metrics: ended?.metrics ?? '',
    });
    const both = await request(await serve(store.db)).get('/metrics');

    expect(text).to.match(/^harkara_things_total\{process="[^"]+"\} 7$/m);
    expect(text).not.to.match(/^harkara_(things_open|processes)/m);
    // A later process of the same name: the counts are not added up.
    expect(both.text).to.match(/^harkara_things_total\{process="[^"]+"\} 7$/m);
    expect(both.text).to.include('harkara_processes{app="batches"} 1');
  });

  it('are made once in five seconds, however many ask', async () => {
    const counted = openCountingDb(store);
    const url = await serve(counted.db);
    const many = () => Promise.all(Array.from({ length: 30 }, () => request(url).get('/metrics')));

    await many();
    await many();
    const first = counted.sent('find');
    clock.turn(5_000);
    await many();

    expect(first).to.equal(1);
    expect(counted.sent('find')).to.equal(2);
    await counted.close();
  });

  it('404 for any other path, 405 for any other method', async () => {
    const url = await serve(store.db);

    expect((await request(url).get('/')).status).to.equal(404);
    expect((await request(url).get('/v2/balance')).status).to.equal(404);
    const posted = await request(url).post('/metrics').send({ a: 1 });
    expect(posted.status).to.equal(405);
    expect(posted.headers.allow).to.equal('GET, HEAD');
    expect((await request(url).head('/metrics')).status).to.equal(200);
  });

  it('503 while the store is away', async () => {
    const away = new MongoClient('mongodb://127.0.0.1:1/', { serverSelectionTimeoutMS: 100 });

    const { status, headers } = await request(await serve(away.db('none'))).get('/metrics');

    expect(status).to.equal(503);
    expect(headers['retry-after']).to.equal('5');
    await away.close();
  });

  it('a taken port is told in the log and stops nobody', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const told: { event: string; fields: LogFields }[] = [];
    const log = { ...silentLog, warn: (event: string, fields: LogFields = {}) => void told.push({ event, fields }) };

    const stop = listenForScrapes({ db: store.db, clock, log }, '127.0.0.1', port);
    await eventually(() => told.length > 0, 'it is told');
    stop();
    holder.close();

    expect(told[0]?.event).to.equal('metrics_not_listening');
    expect(told[0]?.fields).to.include({ host: '127.0.0.1', port });
  });
});
