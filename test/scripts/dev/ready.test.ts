import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { awaitReady } from '../../../scripts/dev/ready.ts';

describe('npm start that is not ready in time', () => {
  let server: Server;
  let url: string;
  let readyz: number;

  before(async () => {
    server = createServer((request, response) => {
      response.statusCode = request.url === '/readyz' ? readyz : 200;
      response.end('{"sessions":[]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => server.close());

  for (const [status, app] of [
    [503, 'gateway'],
    [200, 'smpp'],
  ] as const) {
    it(`names the log of ${app}`, async () => {
      readyz = status;
      const error = await awaitReady(url, url, '/data/logs', 1).catch(String);

      expect(error).to.match(/Not ready after 0 s: .+\. Its log: /);
      expect(error).to.include(`/data/logs/${app}-out.log`);
    });
  }
});
