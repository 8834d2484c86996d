import { buildDashboard } from '../../scripts/dashboard/build.ts';
import { ROOT } from './sources.ts';

let built: Promise<void> | undefined;

/** The dashboard's client as of now, where every gateway of this checkout finds it. */
export function builtDashboard(): Promise<void> {
  built ??= buildDashboard(ROOT);
  return built;
}
