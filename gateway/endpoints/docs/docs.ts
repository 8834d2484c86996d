import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Request } from 'express';
import type { Contract } from '../../api/contract.ts';
import { endpoint, perProcess } from '../../api/endpoint.ts';
import { type ClientFiles, POLICY } from '../../dashboard/serve.ts';
import {
  policyHeaders,
  sendBytes,
  sendNotModified,
  sendPage,
  sendProblem,
  sendRedirect,
  sendText,
  takesGzip,
} from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { PROBLEMS } from '../../http/problem.ts';
import { operationsOf } from './operation.ts';
import { CHANGELOG_PATH, LANGUAGE_PAGES, PATHS_BELOW, pagesOf, renderPage } from './page.ts';

export const docsOf = perProcess(({ files, contract }) => createDocs(files, contract));

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

export const llms = endpoint({
  id: 'llms',
  method: 'get',
  path: '/llms.txt',
  tag: 'Running it',
  summary: 'What there is to read, for language models',
  openapi: { responses: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } } } },
  respond: (gateway) => docsOf(gateway).llms,
});

/**
 * The contract for people and programs, without a key. `build` and each page run at their first request, because most
 * processes get none; pages are made again when the client was built anew.
 */
function createDocs(files: ClientFiles, build: () => Contract) {
  let built: Contract | undefined;
  const contract = () => {
    built ??= build();
    return built;
  };
  const headers = [...policyHeaders(POLICY), 'Vary', 'Accept-Encoding'];
  const pages = new Map<string, Compressed>();
  let builtHead = '';
  const pageAt = (path: string): Compressed => {
    const { docsHead: head = '', changelog = '' } = files.built() ?? {};
    if (head !== builtHead) pages.clear();
    builtHead = head;
    const made = pages.get(path) ?? compressedToo(renderPage(contract(), path, { head, changelog }));
    pages.set(path, made);
    return made;
  };
  return {
    below: PATHS_BELOW,
    page: (req: Request, res: Reply) => {
      const { plain, gzip } = pageAt(req.path);
      if (takesGzip(req)) sendPage(res, gzip, [...headers, 'Content-Encoding', 'gzip']);
      else sendPage(res, plain, headers);
    },
    problem: (req: Request, res: Reply) => {
      const slug = String(req.params.problem);
      if (Object.hasOwn(PROBLEMS, slug)) sendRedirect(res, `/docs#problem-${slug}`);
      else sendProblem(res, 'not_found');
    },
    openapi: createOpenapi(contract),
    llms: (_req: Request, res: Reply) => sendText(res, 'text/plain; charset=utf-8', llmsText(contract())),
  };
}

/** Some 500 KB, so it is compressed once and has an ETag (RFC 9110 §13.1.2), weak because both codings share it. */
function createOpenapi(contract: () => Contract): Handler {
  let made: (Compressed & { readonly tag: string }) | undefined;
  return (req, res: Reply) => {
    if (made === undefined) {
      const text = JSON.stringify(contract());
      made = { ...compressedToo(text), tag: `W/"${hash('sha256', text, 'base64url')}"` };
    }
    const { plain, gzip, tag } = made;
    const headers = ['Cache-Control', 'no-cache', 'Vary', 'Accept-Encoding', 'ETag', tag];
    const known = (req.headers['if-none-match'] ?? '').split(',').map((each) => each.trim());
    if (known.includes(tag) || known.includes('*')) sendNotModified(res, headers);
    else if (takesGzip(req)) sendBytes(res, OPENAPI_TYPE, gzip, [...headers, 'Content-Encoding', 'gzip']);
    else sendBytes(res, OPENAPI_TYPE, plain, headers);
  };
}

const OPENAPI_TYPE = 'application/json; charset=utf-8';

interface Compressed {
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

function compressedToo(text: string): Compressed {
  const plain = Buffer.from(text);
  return { plain, gzip: gzipSync(plain) };
}

/** What a language model reads first (llmstxt.org): an overview, and each operation in one line. */
function llmsText(contract: Contract): string {
  const { info, webhooks } = contract;
  const pages = [...pagesOf(contract), ...LANGUAGE_PAGES, { path: CHANGELOG_PATH, title: 'Changelog' }];
  const operations = pagesOf(contract).flatMap(({ path: page, tags }) =>
    tags.flatMap((tag) => [
      `### ${tag}`,
      ...operationsOf(contract, tag).map(
        ({ method, path, operation: { operationId, summary } }) =>
          `- [${method.toUpperCase()} ${path}](${page}#${operationId}): ${summary}`,
      ),
    ]),
  );
  return `# ${info.title}

> ${info.summary}

${info.description}

## Pages

- [OpenAPI 3.1](/openapi.json): every request, answer, problem and event, for programs
${pages.map(({ path, title }) => `- [${title}](${path})`).join('\n')}

## Operations

${operations.join('\n')}

## Events

${Object.entries(webhooks)
  .map(([name, { post }]) => `- ${name}: ${post.summary}`)
  .join('\n')}
`;
}
