import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openapiOf } from '../../gateway/api/openapi.ts';
import { ENDPOINTS } from '../../gateway/endpoints/list.ts';
import { rolesPage } from './roles-page.ts';

const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
const [file = 'openapi.json'] = positionals;
if (values.help) {
  console.log(`npm run openapi [-- FILE]

Writes the OpenAPI document as a gateway serves it (to openapi.json unless told, which git ignores), and docs/roles.md.`);
  process.exit();
}

const contract = openapiOf(ENDPOINTS);
writeFileSync(file, `${JSON.stringify(contract, null, 2)}\n`);
writeFileSync(join(import.meta.dirname, '../../docs/roles.md'), rolesPage(contract));
