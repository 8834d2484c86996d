import type { Express } from 'express';
import express from 'express';
import type { Gateway } from './api/endpoint.ts';
import { mount } from './api/mount.ts';
import { openapiOf } from './api/openapi.ts';
import { answerError, createParts } from './api/parts.ts';
import { createDashboard } from './dashboard/serve.ts';
import { docsOf } from './endpoints/docs/docs.ts';
import { ENDPOINTS } from './endpoints/list.ts';
import { sendRedirect } from './http/answer.ts';
import { begin } from './http/begin.ts';
import type { Handler, Reply } from './http/context.ts';
import type { GatewayDeps } from './http/deps.ts';

export function createApp(deps: GatewayDeps): Express {
  const app = express();
  for (const off of ['x-powered-by', 'etag', 'query parser']) app.disable(off);
  for (const exact of ['case sensitive routing', 'strict routing']) app.enable(exact);
  const parts = createParts(deps, () => openapiOf(ENDPOINTS));
  const gateway = { ...deps, ...parts };
  const { notFound, undecodable } = parts.unrouted;

  app.use(begin(deps));
  // The busiest routes come first, because the router tries them in order.
  mount(app, ENDPOINTS, gateway);
  mountPages(app, gateway);
  app.use(notFound);
  app.use(undecodable);
  app.use(answerError(deps.log));
  return app;
}

function mountPages(app: Express, gateway: Gateway): void {
  const docs = docsOf(gateway);
  const dashboard = createDashboard(gateway.files, gateway.sessions.cookie);
  const other = gateway.unrouted.methodNotAllowed('GET, HEAD');
  const on = (path: string, page: Handler) => app.route(path).get(page).all(other);
  for (const path of docs.below) on(path, docs.page);
  on('/errors/:problem', docs.problem);
  on('/dashboard/assets/:name', dashboard.asset);
  // A browser is led to the dashboard; a program gets a 404.
  app.get('/', (req, res: Reply, next) =>
    req.headers.accept?.includes('text/html') ? sendRedirect(res, '/dashboard') : next(),
  );
  // The dashboard itself tells of unknown paths below its own.
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/*path']) on(path, dashboard.page);
}
