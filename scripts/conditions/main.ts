import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { grafanaFile } from './grafana.ts';
import { alertsFile, conditionsPage } from './pages.ts';

/** `npm run conditions`: writes alerts and page of the conditions (shared/conditions), and the Grafana dashboard. */
const folder = join(import.meta.dirname, '../../docs/monitoring');

writeFileSync(join(folder, 'alerts.yml'), alertsFile());
writeFileSync(join(folder, 'conditions.md'), conditionsPage());
writeFileSync(join(folder, 'grafana.json'), grafanaFile());
