import { createServer } from 'node:net';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';

/**
 * Checks that a port is free, and returns it. So the person gets one sentence here, instead of an error from a process that PM2
 * restarts again and again. Port 0 becomes a free one. Throws `StartError`.
 */
export async function freePort(host: string, port: number, setting: string): Promise<number> {
  const server = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new StartError(
        `Port ${port} is taken by another program: choose a free one, ${setting}=${port + 1} npm start.`,
      );
    }
    throw new StartError(
      `Cannot listen on ${host}:${port} (${setting}): ${error instanceof Error ? error.message : error}.`,
    );
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
