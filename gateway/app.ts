import express, { type Express } from 'express';
import { mount } from './api/mount.ts';
import { openapiOf } from './api/openapi.ts';
import { createParts } from './api/parts.ts';
import { answerError } from './api/unanswered.ts';
import { ENDPOINTS } from './endpoints/list.ts';
import { begin } from './http/begin.ts';
import type { GatewayDeps } from './http/deps.ts';
import { mountPages } from './pages.ts';

/** The whole API: the endpoints of endpoints/list.ts, and pages. Builds the app and does not listen. */
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
