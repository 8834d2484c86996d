import { buildDashboard } from '../../scripts/dashboard/build.ts';
import { ROOT } from './sources.ts';

let built: Promise<void> | undefined;

/** Builds the dashboard's client from the current sources, where every gateway of this checkout finds it. */
export function builtDashboard(): Promise<void> {
  built ??= buildDashboard(ROOT);
  return built;
}
