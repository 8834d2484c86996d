import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { carrierPage, crashPointsPage, envExample } from '../../../scripts/ops/pages.ts';
import { loadConfig } from '../../../shared/platform/config/settings.ts';
import { parseCrashPoint } from '../../../shared/platform/runtime/crash-point.ts';

describe('docs/carriers.md', () => {
  it('is what the table of settings says now', () => {
    const file = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'carriers.md'), 'utf8');

    expect(file, 'run `npm run -s ops -- carrier settings > docs/carriers.md`').to.equal(carrierPage());
  });
});

describe('.env.example', () => {
  it('is what the settings say now', () => {
    const file = readFileSync(join(import.meta.dirname, '..', '..', '..', '.env.example'), 'utf8');

    expect(file, 'run `npm run -s ops -- env-example > .env.example`').to.equal(envExample());
  });

  it('changes nothing when every line of it is taken', () => {
    const taken = parseEnv(envExample().replaceAll(/^#(?=[A-Z_]+=)/gm, ''));

    expect(loadConfig(taken)).to.deep.equal(loadConfig({}));
  });
});

describe('crash points', () => {
  it('are in docs/crash-points.md as the code has them', () => {
    const file = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'crash-points.md'), 'utf8');

    expect(file, 'run `npm run --silent ops -- crash-points > docs/crash-points.md`').to.equal(crashPointsPage());
  });

  it('are named with the pass at which the process dies', () => {
    expect(parseCrashPoint('settle:updated')).deep.equal({ name: 'settle:updated', pass: 1 });
    expect(parseCrashPoint('settle:updated#3')).deep.equal({ name: 'settle:updated', pass: 3 });
    for (const wrong of ['', 'settle', 'settle:updated#0', 'settle:updated#', 'settle:updated#1#1', 'toString']) {
      expect(parseCrashPoint(wrong), wrong).equal(undefined);
    }
  });

  it('are refused at the start when nobody knows them', () => {
    expect(() => loadConfig({ HARKARA_CRASH_AT: 'settle:late' })).throw(
      /HARKARA_CRASH_AT must be one of accept:debited/,
    );
  });
});
