import type { RequestListener, ServerResponse } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Contract, Operation } from '../../gateway/api/contract.ts';
import { openapiOf } from '../../gateway/api/openapi.ts';
import { ENDPOINTS } from '../../gateway/endpoints/list.ts';

/** The document that every gateway serves, indented. */
export const contractText = JSON.stringify(openapiOf(ENDPOINTS), null, 2);
export const contract: Contract = JSON.parse(contractText);

/** Strict, so that a misspelled keyword of the contract is an error. */
const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  validateFormats: false,
});
ajv.addVocabulary(Object.keys(contract));
ajv.addSchema({ $id: 'contract', ...contract });
const compiled = new Map<string, ValidateFunction>();

/** The value's fault by the schema at this place of the contract (`#/components/schemas/Problem`), if any. */
export function schemaFault(place: string, value: unknown): string | undefined {
  let validate = compiled.get(place);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `contract${place}` });
    compiled.set(place, validate);
  }
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

/** The parts of a JSON pointer, as the end of a URI. */
export function pointer(...parts: readonly string[]): string {
  return `#${parts.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')}`;
}

export const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]: [string, Operation]) => ({
    method,
    path,
    operation,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  })),
);

/** The path with the document's example parameters: ids of nothing. */
export function examplePath(path: string, { parameters = [] }: Operation): string {
  const known = parameters.map((one) =>
    '$ref' in one ? contract.components.parameters[one.$ref.split('/').at(-1) ?? ''] : one,
  );
  return path.replaceAll(/\{(\w+)\}/g, (_, wanted) => String(known.find((one) => one?.name === wanted)?.example));
}

interface Answer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Paths outside the contract: pages for browsers. */
export const FOR_BROWSERS = /^\/$|^\/dashboard([/{]|$)|^\/docs\/|^\/errors\//;

/** What the contract does not allow in an answer, if anything. */
export function answerFault({ method, url, status, contentType, text }: Answer): string | undefined {
  const path = url.split('?')[0] ?? '';
  const asked = method === 'HEAD' ? 'get' : method.toLowerCase();
  const found = operations.find((one) => one.method === asked && one.pattern.test(path));
  const mediaType = contentType.split(';')[0] ?? '';
  const place = `${method} ${found?.path ?? path} ${status}`;
  // Files for browsers, which no client of the API requests.
  if (status < 400 && FOR_BROWSERS.test(path)) return undefined;
  if (status === 200) {
    if (found === undefined) return `${place}: the contract has no such operation`;
    if (found.operation.responses['200'] === undefined) return `${place}: it is not documented`;
    const at = pointer('paths', found.path, asked, 'responses', '200', 'content', mediaType, 'schema');
    const fault = schemaFault(at, mediaType === 'application/json' ? JSON.parse(text) : text);
    return fault === undefined ? undefined : `${place}: ${fault}`;
  }
  const problem: { readonly code?: string } = JSON.parse(text);
  const fault = schemaFault('#/components/schemas/Problem', problem);
  if (fault !== undefined) return `${place}: ${fault}`;
  const documented = [...contract['x-problems'], ...(found?.operation['x-problems'] ?? [])];
  return documented.includes(problem.code ?? '') ? undefined : `${place}: ${problem.code} is not documented`;
}

/** What the contract does not allow in an accepted body, if anything: it must list all that may be sent. */
export function acceptedFault({ method, url }: Pick<Answer, 'method' | 'url'>, body: unknown): string | undefined {
  const path = url.split('?')[0];
  const found = operations.find((one) => one.method === method.toLowerCase() && one.path === path);
  if (found?.operation.requestBody === undefined) return undefined;
  const at = pointer('paths', found.path, found.method, 'requestBody', 'content', 'application/json', 'schema');
  const fault = schemaFault(at, body);
  return fault === undefined ? undefined : `${method} ${path} accepted a body: ${fault}`;
}

/** Checks every answer of an app, and every accepted body, against the contract and collects `faults`. */
export function watchAnswers(app: RequestListener, faults: string[]): RequestListener {
  return (req, res) => {
    const { method = '', url = '' } = req;
    const sent = { status: 0, contentType: '' };
    const { writeHead, write, end } = res;
    const check = (text: unknown): void => {
      if (typeof text !== 'string') return;
      const body: unknown = Reflect.get(Object(Reflect.get(res, 'locals')), 'body');
      const accepted = sent.status === 200 && body !== undefined ? acceptedFault({ method, url }, body) : undefined;
      for (const fault of [answerFault({ method, url, ...sent, text }), accepted]) {
        if (fault !== undefined) faults.push(fault);
      }
    };
    // gateway/http/answer.ts writes all answers: a flat list of headers, then one text.
    Object.assign(res, {
      writeHead(status: number, headers: readonly string[]): ServerResponse {
        sent.status = status;
        sent.contentType = headers[headers.indexOf('Content-Type') + 1] ?? '';
        return Reflect.apply(writeHead, res, [status, headers]);
      },
      write(...args: unknown[]): boolean {
        check(args[0]);
        return Reflect.apply(write, res, args);
      },
      end(...args: unknown[]): ServerResponse {
        check(args[0]);
        return Reflect.apply(end, res, args);
      },
    });
    app(req, res);
  };
}
