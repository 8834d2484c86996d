import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openapiOf } from '../../gateway/api/openapi.ts';
import { ENDPOINTS } from '../../gateway/endpoints/list.ts';
import { rolesPage } from './roles-page.ts';

/**
 * `npm run openapi [-- <file>]`: writes the OpenAPI document as a gateway serves it (default openapi.json, which git ignores), and
 * docs/roles.md.
 */
const [file = 'openapi.json'] = process.argv.slice(2);

const contract = openapiOf(ENDPOINTS);
writeFileSync(file, `${JSON.stringify(contract, null, 2)}\n`);
writeFileSync(join(import.meta.dirname, '../../docs/roles.md'), rolesPage(contract));
