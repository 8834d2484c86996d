import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openapiOf } from '../../gateway/api/openapi.ts';
import { readContract } from '../../gateway/endpoints/docs/contract.ts';
import { ENDPOINTS } from '../../gateway/endpoints/list.ts';
import { REQUEST_SCHEMAS } from './request-schemas.ts';
import { rolesPage } from './roles-page.ts';

/**
 * `npm run openapi`: writes the request schemas into docs/openapi.json after a field changed, and docs/roles.md. The rest of
 * docs/openapi.json is written by hand.
 */
const FILE = join(import.meta.dirname, '../../docs/openapi.json');

const { contract: old } = readContract();
const declared = openapiOf(ENDPOINTS);
const schemas = { ...old.components.schemas, ...REQUEST_SCHEMAS, ...declared.components.schemas };
const contract = {
  ...declared,
  paths: { ...old.paths, ...declared.paths },
  components: {
    ...declared.components,
    parameters: { ...old.components.parameters, ...declared.components.parameters },
    schemas,
  },
};
writeFileSync(FILE, JSON.stringify(contract, null, 2));
execFileSync('npx', ['biome', 'format', '--write', FILE], { stdio: 'inherit' });
writeFileSync(join(import.meta.dirname, '../../docs/roles.md'), rolesPage(contract));
