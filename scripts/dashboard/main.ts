import { join } from 'node:path';
import { buildDashboard } from './build.ts';

// The second half of `npm run build`.
await buildDashboard(join(import.meta.dirname, '..', '..'));
