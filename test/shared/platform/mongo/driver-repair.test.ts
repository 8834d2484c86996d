import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Connection } from 'mongodb/lib/cmap/connection.js';
import { repairDriver } from '../../../../shared/platform/mongo/connect.ts';

describe('a command of the driver whose connection closes before it is written', () => {
  let server: Server;
  let socket: Socket;

  before(async () => {
    repairDriver();
    server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(async () => {
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // a TCP server's address is not a string
    await once(socket, 'connect');
  });
  afterEach(() => socket.destroy());
  after(() => server.close());

  function connection(): Connection {
    return new Connection(socket, { id: 1, generation: 1 });
  }

  /** `name: message` of the command's error; the test times out if it never ends. */
  async function endOf(command: Promise<unknown>): Promise<string> {
    return command.then(
      () => 'an answer',
      (error: unknown) => String(error),
    );
  }

  it('fails as a network error instead of waiting for ever', async () => {
    const closing = connection();

    const command = closing.command({ db: 'admin' }, { hello: 1 });
    closing.cleanup(new Error('read ECONNRESET'));

    expect(await endOf(command)).match(/^MongoNetworkError: /);
  });

  it('fails when the socket is closed and the connection does not know it yet', async () => {
    const closing = connection();

    socket.destroy();
    const command = closing.command({ db: 'admin' }, { hello: 1 });

    expect(await endOf(command)).match(/^MongoNetworkError: connection 1 to .* closed/);
  });

  it('fails with the reason when it already waits for a full socket', async () => {
    const closing = connection();
    const text = 'x'.repeat(15_000_000);

    const command = closing.command({ db: 'admin' }, { insert: 'a', documents: [{ text }] });
    await new Promise((resolve) => setImmediate(resolve));
    closing.cleanup(new Error('read ECONNRESET'));

    expect(await endOf(command)).match(/read ECONNRESET/);
  });
});
