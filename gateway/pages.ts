import type { Express } from 'express';
import type { Gateway } from './api/endpoint.ts';
import { createDashboard } from './dashboard/serve.ts';
import { docsOf } from './endpoints/docs/docs.ts';
import type { Handler } from './http/context.ts';

/** What browsers ask for: pages and their files. None needs a key. */
export function mountPages(app: Express, gateway: Gateway): void {
  const docs = docsOf(gateway);
  const dashboard = createDashboard(gateway.files, gateway.sessions.cookie);
  const other = gateway.unrouted.methodNotAllowed('GET, HEAD');
  const on = (path: string, page: Handler) => app.route(path).get(page).all(other);
  for (const path of docs.below) on(path, docs.page);
  on('/errors/:problem', docs.problem);
  on('/dashboard/assets/:name', dashboard.asset);
  // The client knows its own paths and says of an unknown one that it leads nowhere.
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/*path']) on(path, dashboard.page);
}
