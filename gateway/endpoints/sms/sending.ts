import type { Routes } from '../../../shared/carriers/routing/routes.ts';
import type { Approvals } from './approvals.ts';

/** What the endpoints that accept SMS share, besides what the gateway is built from. */
export interface Sending {
  readonly approvals: Approvals;
  readonly routes: Routes;
}
