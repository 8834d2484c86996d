import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractOf } from '../../gateway/endpoints/docs/contract.ts';
import { ENDPOINTS } from '../../gateway/endpoints/list.ts';
import { REQUEST_SCHEMAS } from './request-schemas.ts';
import { rolesPage } from './roles-page.ts';

/** `npm run openapi`: writes docs/openapi.json and docs/roles.md. */
const FILE = join(import.meta.dirname, '../../docs/openapi.json');

const { components, ...rest } = contractOf(ENDPOINTS);
const contract = { ...rest, components: { ...components, schemas: { ...components.schemas, ...REQUEST_SCHEMAS } } };
writeFileSync(FILE, JSON.stringify(contract, null, 2));
execFileSync('npx', ['biome', 'format', '--write', FILE], { stdio: 'inherit' });
writeFileSync(join(import.meta.dirname, '../../docs/roles.md'), rolesPage(contract));
