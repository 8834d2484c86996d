import { createServer, type Server, type ServerResponse } from 'node:http';
import { closeAtOnce, listenLocally } from '../../../../scripts/simulator/listen.ts';
import { CARRIER_DEFAULTS } from '../../../../shared/carriers/carrier.ts';
import { httpWire } from '../../../../workers/smpp/http/http-wire.ts';
import type { WireSession } from '../../../../workers/smpp/session/wire.ts';
import type { Frame } from '../../../../workers/smpp/submit/submission.ts';
import { eventually } from '../../../support/eventually.ts';

interface Request extends Frame {
  readonly name: string;
}

describe('a session with an HTTP carrier', () => {
  let server: Server;
  let port: number;
  let session: WireSession<Request>;
  /** Requests waiting for their answers. */
  let open: Map<string, ServerResponse>;
  /** What the session reported of each request, and of its end. */
  let told: string[];

  beforeEach(async () => {
    open = new Map();
    told = [];
    server = createServer((request, response) => void open.set(request.url?.slice(1) ?? '', response));
    port = await listenLocally(server, 0);
    session = httpWire<Request>({
      ...CARRIER_DEFAULTS,
      ...{ _id: 'c', name: 'C', kind: 'http', host: '127.0.0.1', port, systemId: 'x', password: '' },
      createdAt: new Date(0),
    }).open(0, 0, {
      onOpen: () => told.push('open'),
      onAnswer: ({ name }, { messageId }) => told.push(`${name}: ${messageId}`),
      onTimeout: ({ name }) => told.push(`${name}: unknown`),
      onUnbind: () => {},
      onClose: (reason, { unanswered, unwritten }) => {
        told.push(...unanswered.map(({ name }) => `${name}: unanswered`));
        told.push(...unwritten.map(({ name }) => `${name}: unwritten`), `closed: ${reason}`);
      },
    });
    await eventually(() => session.open, 'it is open');
    told = [];
  });
  afterEach(() => {
    session.destroy('over');
    return closeAtOnce(server);
  });

  const submit = (name: string, at = port): void => {
    const target = { method: 'POST', url: `http://127.0.0.1:${at}/${name}`, headers: {} } as const;
    session.submit({ name, frame: Buffer.from('x'), target });
  };
  const arrived = (...names: readonly string[]) =>
    eventually(() => names.every((name) => open.has(name)), `${names.join(' and ')} arrived`);
  const closed = () => eventually(() => told.some((one) => one.startsWith('closed')), 'it is closed');
  const answer = (name: string): void => void open.get(name)?.end(JSON.stringify({ id: `id-${name}` }));

  it('that ends awaits what is in flight, and then takes nothing more', async () => {
    submit('a');
    submit('b');
    await arrived('a', 'b');

    session.end();
    expect(session.open).to.equal(false);
    answer('a');
    await eventually(() => told.includes('a: id-a'), 'a is answered');
    open.get('b')?.destroy();
    await closed();

    expect(told).to.deep.equal(['a: id-a', 'b: unknown', 'closed: ended']);
  });

  it('that is destroyed tells of each request once, whatever comes later', async () => {
    submit('a');
    submit('b');
    await arrived('a', 'b');
    answer('a');
    await eventually(() => told.includes('a: id-a'), 'a is answered');

    session.destroy('stopped');
    answer('b');
    await closed();
    session.destroy('again');
    await new Promise((resolve) => setImmediate(resolve));

    expect(told).to.deep.equal(['a: id-a', 'b: unanswered', 'closed: stopped']);
  });

  it('that finds no connection any more ends: that request was never written, the others are answered', async () => {
    submit('a');
    await arrived('a');

    submit('b', 1);
    await eventually(() => !session.open, 'it ends');
    expect(told).to.deep.equal([]);
    answer('a');
    await closed();

    expect(told).to.deep.equal(['a: id-a', 'b: unwritten', 'closed: ECONNREFUSED']);
  });
});
