import { createServer, type Socket } from 'node:net';
import { mock } from 'node:test';
import { SmppSocket } from '../../../../shared/carriers/smpp/socket.ts';
import { eventually } from '../../../support/eventually.ts';

const CONNECTIONS = 8;

/** Connections of one process, and the frames that each passed on, with the turn of the event loop. */
interface Scene {
  readonly peers: readonly Socket[];
  readonly sockets: readonly SmppSocket[];
  readonly handed: { readonly connection: number; readonly octets: number; readonly turn: number }[];
  close(): Promise<void>;
}

async function openScene(connections = CONNECTIONS, onFrame = () => {}): Promise<Scene> {
  const peers: Socket[] = [];
  const server = createServer((peer) => {
    peers.push(peer.on('error', () => {}).resume());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
  const handed: Scene['handed'] = [];
  let turn = 0;
  let open = 0;
  const sockets = Array.from({ length: connections }, (_, connection) => {
    const options = {
      host: '127.0.0.1',
      port: address.port,
      tls: undefined,
      mayWrite: () => true,
      onFrame: (frame: Buffer) => {
        handed.push({ connection, octets: frame.length, turn });
        onFrame();
      },
      onClose: () => {
        open -= 1;
      },
    };
    return new SmppSocket(options, () => {
      open += 1;
    });
  });
  await eventually(() => open === connections && peers.length === connections, 'all are connected');
  let counting = true;
  const countTurns = (): void => {
    turn += 1;
    if (counting) setImmediate(countTurns);
  };
  countTurns();
  return {
    ...{ peers, sockets, handed },
    close: async () => {
      counting = false;
      for (const socket of sockets) socket.destroy('ended');
      await eventually(() => open === 0, 'all are closed');
      await new Promise((done) => server.close(done));
    },
  };
}

function frame(octets: number): Buffer {
  const bytes = Buffer.alloc(octets);
  bytes.writeUInt32BE(octets);
  return bytes;
}

function most(handed: Scene['handed']): number {
  const byTurn = new Map<number, number>();
  for (const { octets, turn } of handed) byTurn.set(turn, (byTurn.get(turn) ?? 0) + octets);
  return Math.max(...byTurn.values());
}

describe('smpp socket: one turn of the event loop', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await openScene();
  });
  afterEach(() => scene.close());

  it('hands on one long frame of all connections, the others in the next turns', async () => {
    for (const peer of scene.peers) peer.write(frame(60_000));
    await eventually(() => scene.handed.length === CONNECTIONS, 'all are handed on');

    // Twice the limit, because our counter of turns sometimes misses one.
    expect(most(scene.handed)).to.be.at.most(2 * 60_000);
    expect(new Set(scene.handed.map(({ connection }) => connection)).size).to.equal(CONNECTIONS);
  });

  it('shares the octets among connections that have many frames, and loses none', async () => {
    const some = Buffer.concat(Array.from({ length: 60 }, () => frame(4_000)));
    for (const peer of scene.peers) peer.write(some);
    await eventually(() => scene.handed.length === CONNECTIONS * 60, 'all are handed on');

    expect(most(scene.handed)).to.be.at.most(2 * (49_152 + 4_000));
  });
});

describe('smpp socket: a frame of which the rest does not come', () => {
  let scene: Scene;
  beforeEach(async () => {
    // As when too many deliver_sm wait for our answer: a frame starts the pause.
    scene = await openScene(1, () => scene.sockets[0]?.setPaused(true));
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => {
    mock.timers.reset();
    return scene.close();
  });

  it('ends the connection 10 s after we began to wait, and not while we do not read', async () => {
    const [peer] = scene.peers;
    const [socket] = scene.sockets;
    if (peer === undefined || socket === undefined) throw new Error('one is connected');
    peer.write(Buffer.concat([frame(100), frame(100).subarray(0, 50)]));
    while (scene.handed.length === 0) await new Promise((turn) => setImmediate(turn));

    mock.timers.tick(10_000);
    expect(socket.open).to.equal(true);
    socket.setPaused(false);
    mock.timers.tick(9_999);
    socket.setPaused(true);
    mock.timers.tick(10_000);
    socket.setPaused(false);
    mock.timers.tick(9_999);
    expect(socket.open).to.equal(true);
    mock.timers.tick(1);
    expect(socket.open).to.equal(false);
  });
});

describe('smpp socket: TLS to a port that speaks none', () => {
  afterEach(() => mock.timers.reset());

  it('says after 10 s that TLS was not answered, not that nobody is there', async () => {
    const peers: Socket[] = [];
    const server = createServer((peer) => peers.push(peer.on('error', () => {}).resume()));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has an address');
    mock.timers.enable({ apis: ['setTimeout'] });
    const closed = new Promise<string>((onClose) => {
      const options = {
        host: '127.0.0.1',
        port: address.port,
        tls: {},
        mayWrite: () => true,
        onFrame: () => {},
        onClose,
      };
      new SmppSocket(options, () => {});
    });
    // Once the server has read the start of TLS, the connection is established on both sides.
    while ((peers[0]?.bytesRead ?? 0) === 0) await new Promise((turn) => setImmediate(turn));

    mock.timers.tick(10_000);

    expect(await closed).to.equal('tls_timeout');
    await new Promise((done) => server.close(done));
  });
});
