import { gzipSync } from 'node:zlib';
import type { ClientFiles } from '../dashboard/files.ts';
import { POLICY } from '../dashboard/policy.ts';
import { policyHeaders, sendJsonText, sendPage, sendProblem, sendRedirect } from '../http/answer.ts';
import type { Handler, Reply } from '../http/context.ts';
import { PROBLEMS } from '../http/problem.ts';
import { takesGzip } from '../http/takes-gzip.ts';
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
    openapi: (_req, res: Reply) => sendJsonText(res, 200, text),
  };
}

/** A page of 800 KB is a tenth of that compressed. */
interface RenderedPage {
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/** Each page is made when it is first asked for, and again when the client was built anew: most processes are never asked. */
class RenderedPages {
  readonly #contract: Contract;
  readonly #pages = new Map<string, RenderedPage>();
  #head = '';

  constructor(contract: Contract) {
    this.#contract = contract;
  }

  at(path: string, head: string): RenderedPage {
    if (head !== this.#head) this.#pages.clear();
    this.#head = head;
    const made = this.#pages.get(path) ?? compressedToo(renderPage(this.#contract, path, head));
    this.#pages.set(path, made);
    return made;
  }
}

function compressedToo(html: string): RenderedPage {
  const plain = Buffer.from(html);
  return { plain, gzip: gzipSync(plain) };
}
