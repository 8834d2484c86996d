import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolesPage } from '../../../../scripts/openapi/roles-page.ts';
import { contract } from '../../../support/openapi.ts';

describe('docs/roles.md', () => {
  it('8.1.1, 8.1.2 (ASVS): is the table of roles, routes and fields that the document gives now', () => {
    const file = readFileSync(join(import.meta.dirname, '../../../../docs/roles.md'), 'utf8');

    expect(file, 'run `npm run openapi`').to.equal(rolesPage(contract));
  });
});
