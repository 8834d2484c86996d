import { parseArgs } from 'node:util';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Contract } from '../../../gateway/api/contract.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { serverOf } from './server.ts';
import { toolsOf } from './tools.ts';

/**
 * `npm run --silent mcp [-- --send]`, and `harkara-mcp` of the package: the gateway for agents, by the Model Context
 * Protocol on stdin and stdout. The key comes from the environment (HARKARA_KEY), because options are visible in the
 * process list.
 */
const { send } = parseArgs({ options: { send: { type: 'boolean', default: false } } }).values;
const { HARKARA_URL = 'http://127.0.0.1:3000', HARKARA_KEY = '' } = process.env;

try {
  if (HARKARA_KEY === '') throw new Error('Put your API key into the environment: HARKARA_KEY=hk_live_…');
  const url = HARKARA_URL.replace(/\/+$/, '');
  const answer = await fetch(`${url}/openapi.json`).catch((cause: unknown) => {
    throw new Error(`HARKARA_URL cannot be reached: ${url}`, { cause });
  });
  if (!answer.ok) throw new Error(`${url}/openapi.json answers ${answer.status}: is HARKARA_URL a gateway?`);
  const tools = toolsOf((await answer.json()) as Contract, { send }); // as every gateway serves it
  serveStdio(() => serverOf({ url, key: HARKARA_KEY }, manifest.version, tools), {
    onerror: ({ message }) => console.error(message),
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
