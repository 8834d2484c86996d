import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contract } from '../../api/contract.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { openapiOf } from '../../api/openapi.ts';

/** The document of these endpoints, and of those that stand in docs/openapi.json and are not declared. */
export function contractOf(endpoints: readonly Endpoint[]): Contract {
  const declared = openapiOf(endpoints);
  // Compiled files are one folder deeper, in dist/.
  const file = ['../../..', '../../../..']
    .map((up) => join(import.meta.dirname, up, 'docs/openapi.json'))
    .find((path) => existsSync(path));
  if (file === undefined) return declared;
  const written = JSON.parse(readFileSync(file, 'utf8')) as Contract; // it is our own file, and test/gateway/endpoints/docs proves its shape
  const components = {
    ...declared.components,
    parameters: { ...written.components.parameters, ...declared.components.parameters },
    schemas: { ...written.components.schemas, ...declared.components.schemas },
  };
  return { ...declared, paths: { ...written.paths, ...declared.paths }, components };
}
