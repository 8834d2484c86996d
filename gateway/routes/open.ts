import type { Parts } from '../api/parts.ts';
import { ClientFiles } from '../dashboard/files.ts';
import { createDashboard } from '../dashboard/serve.ts';
import { createDocs } from '../endpoints/docs/docs.ts';
import { createHealthz, createReadyz } from '../endpoints/health/health.ts';
import type { GatewayDeps } from '../http/deps.ts';
import type { On } from './route.ts';

/** Routes that need no key. */
export function routeOpen(on: On, deps: GatewayDeps, { sessions }: Pick<Parts, 'sessions'>): void {
  const files = new ClientFiles();
  const docs = createDocs(files);
  on('/healthz', { get: [createHealthz()] });
  on('/readyz', { get: [createReadyz(deps)] });
  for (const path of docs.paths) on(path, { get: [docs.page] });
  on('/errors/:problem', { get: [docs.problem] });
  on('/openapi.json', { get: [docs.openapi] });
  const dashboard = createDashboard(files, sessions.cookie);
  on('/dashboard/assets/:name', { get: [dashboard.asset] });
  // The client knows its own paths and says of an unknown one that it leads nowhere.
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/*path']) on(path, { get: [dashboard.page] });
}
