import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readContract } from '../../gateway/endpoints/docs/contract.ts';
import { REQUEST_SCHEMAS } from './request-schemas.ts';
import { rolesPage } from './roles-page.ts';

/**
 * `npm run openapi`: writes the request schemas into docs/openapi.json after a field changed, and docs/roles.md. The rest of
 * docs/openapi.json is written by hand.
 */
const FILE = join(import.meta.dirname, '../../docs/openapi.json');

const { contract } = readContract();
const { components } = contract;
const schemas = { ...components.schemas, ...REQUEST_SCHEMAS };
writeFileSync(FILE, JSON.stringify({ ...contract, components: { ...components, schemas } }, null, 2));
execFileSync('npx', ['biome', 'format', '--write', FILE], { stdio: 'inherit' });
writeFileSync(join(import.meta.dirname, '../../docs/roles.md'), rolesPage(contract));
