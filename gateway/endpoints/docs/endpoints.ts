import { endpoint } from '../../api/endpoint.ts';
import { docsOf } from './docs.ts';

/** The contract, for people and for programs. Pages below `/docs` are no endpoints of the API (pages.ts). */

export const docs = endpoint({
  id: 'docs',
  method: 'get',
  path: '/docs',
  tag: 'Running it',
  summary: 'This page',
  openapi: { responses: { 200: { content: { 'text/html': { schema: { type: 'string' } } } } } },
  respond: (gateway) => docsOf(gateway).page,
});

export const openapi = endpoint({
  id: 'openapi',
  method: 'get',
  path: '/openapi.json',
  tag: 'Running it',
  summary: 'This contract as OpenAPI 3.1',
  description:
    'Compressed for callers that take gzip. With the ETag of an earlier answer in If-None-Match: 304 without a body while the document is the same.',
  openapi: {
    parameters: [
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The ETag of an earlier answer.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: { content: { 'application/json': { schema: { type: 'object' } } } },
      304: { description: 'The caller has it already (If-None-Match)' },
    },
  },
  respond: (gateway) => docsOf(gateway).openapi,
});
