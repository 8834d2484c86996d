import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ClientFiles } from '../../dashboard/files.ts';
import { POLICY } from '../../dashboard/policy.ts';
import { policyHeaders, sendBytes, sendNotModified, sendPage, sendProblem, sendRedirect } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { PROBLEMS } from '../../http/problem.ts';
import { takesGzip } from '../../http/takes-gzip.ts';
import { type Contract, readContract } from './contract.ts';
import { renderPage } from './page.ts';
import { pagesOf } from './pages.ts';

interface Docs {
  /** The pages: /docs, and those below it. */
  readonly paths: readonly string[];
  readonly page: Handler;
  /** Where the `type` of a problem leads. */
  readonly problem: Handler;
  readonly openapi: Handler;
}

/** The contract for people and for programs. None of it needs a key. */
export function createDocs(files: ClientFiles): Docs {
  const { text, contract } = readContract();
  const headers = [...policyHeaders(POLICY), 'Vary', 'Accept-Encoding'];
  const compressed = [...headers, 'Content-Encoding', 'gzip'];
  const rendered = new RenderedPages(contract);
  return {
    paths: pagesOf(contract).map(({ path }) => path),
    page: (req, res: Reply) => {
      const { plain, gzip } = rendered.at(req.path, files.docsHead() ?? '');
      if (takesGzip(req)) sendPage(res, gzip, compressed);
      else sendPage(res, plain, headers);
    },
    problem: (req, res: Reply) => {
      const slug = String(req.params.problem);
      if (Object.hasOwn(PROBLEMS, slug)) sendRedirect(res, `/docs#problem-${slug}`);
      else sendProblem(res, 'not_found');
    },
    openapi: openapiOf(text),
  };
}

/**
 * The document is some 900 KB, the same for everybody, and asked for by programs again and again. So it is compressed once, at the
 * first request, and its ETag lets a caller that has it be told so (RFC 9110 §13.1.2). Weak, as the same for both codings.
 */
function openapiOf(text: string): Handler {
  const tag = `W/"${hash('sha256', text, 'base64url')}"`;
  const headers = ['Cache-Control', 'no-cache', 'Vary', 'Accept-Encoding', 'ETag', tag];
  let made: Compressed | undefined;
  return (req, res: Reply) => {
    const known = (req.headers['if-none-match'] ?? '').split(',').map((each) => each.trim());
    if (known.includes(tag) || known.includes('*')) return sendNotModified(res, headers);
    made ??= compressedToo(text);
    const { plain, gzip } = made;
    if (takesGzip(req)) sendBytes(res, OPENAPI_TYPE, gzip, [...headers, 'Content-Encoding', 'gzip']);
    else sendBytes(res, OPENAPI_TYPE, plain, headers);
  };
}

const OPENAPI_TYPE = 'application/json; charset=utf-8';

/** A page of 800 KB is a tenth of that compressed. */
interface Compressed {
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/** Each page is made when it is first asked for, and again when the client was built anew: most processes are never asked. */
class RenderedPages {
  readonly #contract: Contract;
  readonly #pages = new Map<string, Compressed>();
  #head = '';

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  at(path: string, head: string): Compressed {
    if (head !== this.#head) this.#pages.clear();
    this.#head = head;
    const made = this.#pages.get(path) ?? compressedToo(renderPage(this.#contract, path, head));
    this.#pages.set(path, made);
    return made;
  }
}

function compressedToo(text: string): Compressed {
  const plain = Buffer.from(text);
  return { plain, gzip: gzipSync(plain) };
}
