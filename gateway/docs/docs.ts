import { pageHeaders, sendJsonText, sendPage } from '../http/answer.ts';
import type { Handler, Reply } from '../http/context.ts';
import { readContract } from './contract.ts';
import { renderPage } from './page.ts';
import { STYLE } from './style.ts';

/**
 * GET /docs and GET /openapi.json: the contract for people and for programs. Both need no key and are made once, at
 * the start.
 */
export function createDocs(): { readonly page: Handler; readonly openapi: Handler } {
  const { text, contract } = readContract();
  const html = renderPage(contract);
  const headers = pageHeaders(STYLE);
  return {
    page: (_req, res: Reply) => sendPage(res, html, headers),
    openapi: (_req, res: Reply) => sendJsonText(res, 200, text),
  };
}
