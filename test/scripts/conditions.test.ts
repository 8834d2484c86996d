import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grafanaFile } from '../../scripts/conditions/grafana.ts';
import { alertsFile, conditionsPage } from '../../scripts/conditions/pages.ts';

describe('npm run conditions', () => {
  const stored = (file: string) => readFileSync(join(import.meta.dirname, '../../docs/monitoring', file), 'utf8');

  it('has written alerts.yml', () => expect(stored('alerts.yml')).to.equal(alertsFile()));

  it('has written grafana.json', () => expect(stored('grafana.json')).to.equal(grafanaFile()));

  it('has written conditions.md', () => {
    // The file's columns are aligned.
    const words = (page: string) => page.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---').trim();
    expect(words(stored('conditions.md'))).to.equal(words(conditionsPage()));
  });
});
