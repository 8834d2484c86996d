import type { Gateway } from '../api/endpoint.ts';
import { createDashboard } from '../dashboard/serve.ts';
import { docsOf } from '../endpoints/docs/docs.ts';
import type { On } from './route.ts';

/** What browsers ask for: pages and their files. None needs a key. */
export function routeOpen(on: On, gateway: Gateway): void {
  const docs = docsOf(gateway);
  for (const path of docs.below) on(path, { get: [docs.page] });
  on('/errors/:problem', { get: [docs.problem] });
  const dashboard = createDashboard(gateway.files, gateway.sessions.cookie);
  on('/dashboard/assets/:name', { get: [dashboard.asset] });
  // The client knows its own paths and says of an unknown one that it leads nowhere.
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/*path']) on(path, { get: [dashboard.page] });
}
