import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect } from 'chai';
import { envExample } from '../../../scripts/ops/env-example.ts';
import { loadConfig } from '../../../shared/platform/config/settings.ts';

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
