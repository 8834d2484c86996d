import { connect, type Socket } from 'node:net';
import { LimitedReading } from '../../../../shared/platform/runtime/limited-reading.ts';
import { eventually } from '../../../support/eventually.ts';
import { type HostileServer, openHostileServer } from '../../../support/hostile-server.ts';

describe('limited reading', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function server(answer: (socket: Socket) => void): Promise<HostileServer> {
    const made = await openHostileServer(answer);
    closing.push(() => made.close());
    return made;
  }

  /** Opens a connection and collects what it passes on. */
  function open({ port }: HostileServer, bytesMax: number) {
    const socket = connect(port, '127.0.0.1');
    closing.push(() => socket.destroy());
    const limited = new LimitedReading(socket, bytesMax);
    const seen = { chunks: [] as Buffer[], ended: false, error: undefined as Error | undefined };
    socket.on('data', (chunk: Buffer) => seen.chunks.push(chunk));
    socket.on('end', () => {
      seen.ended = true;
    });
    socket.on('error', (error) => {
      seen.error = error;
    });
    socket.write('?');
    return { socket, limited, seen, bytes: () => Buffer.concat(seen.chunks) };
  }

  const LONG = Buffer.from(Array.from({ length: 100_000 }, (_, i) => String(i)).join());

  it('hands on all bytes in their order, and then the end', async () => {
    const from = await server((socket) => socket.end(LONG));
    const { seen, bytes } = open(from, LONG.length);

    await eventually(() => seen.ended, 'it has ended');

    expect(bytes().equals(LONG)).to.equal(true);
    expect(seen.error).to.equal(undefined);
  });

  it('hands on what is within the limit, and destroys the connection then', async () => {
    const from = await server((socket) => socket.write(LONG));
    const { socket, seen, bytes } = open(from, 20_000);

    await eventually(() => seen.error !== undefined, 'the connection is destroyed');

    expect(seen.error?.message).to.equal('the answer has more than 20000 bytes');
    expect(socket.destroyed).to.equal(true);
    expect(bytes().equals(LONG.subarray(0, 20_000))).to.equal(true);
  });

  it('counts anew after something was written, by the limit that holds then', async () => {
    const from = await server((socket) => {
      socket.write('a'.repeat(90));
      socket.on('data', () => socket.write('b'.repeat(150)));
    });
    const { socket, limited, seen, bytes } = open(from, 100);
    await eventually(() => bytes().length === 90, 'the first answer');
    socket.write('?');
    await eventually(() => bytes().length === 190, 'of the second, what is within the limit');
    await eventually(() => seen.error !== undefined, 'the connection is destroyed');

    const more = open(from, 100);
    await eventually(() => more.bytes().length === 90, 'the first answer');
    more.limited.bytesMax = 150;
    more.socket.write('?');
    await eventually(() => more.bytes().length === 240, 'all of the second');
    expect(limited.bytesMax).to.equal(100);
    expect(more.seen.error).to.equal(undefined);
  });
});
