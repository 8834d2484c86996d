import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { closedLoop, productTarget } from './load.ts';
import { cpuMs } from './usage.ts';

const REQUESTS = 10_000;
const WARM_UP = 3_000;
const CONNECTIONS = 32;

/** The result on the machine for which the targets were set (quiet, two cores). */
export const YARDSTICK_US = 24;

/** CPU microseconds per request of a bare JSON server under the same load: how fast the machine is. */
export async function measureYardstick(dist: string): Promise<number> {
  const server = fork(join(dist, 'scripts/bench/yardstick-server.js'), [], { execArgv: [] });
  const [address]: { port: number }[] = await once(server, 'message');
  const target = productTarget(`http://127.0.0.1:${address?.port}`, ['']);
  await closedLoop(target, CONNECTIONS, WARM_UP);
  const before = cpuMs(server.pid ?? 0);
  await closedLoop(target, CONNECTIONS, REQUESTS);
  const used = cpuMs(server.pid ?? 0) - before;
  server.disconnect();
  await once(server, 'exit');
  return (used / REQUESTS) * 1000;
}
