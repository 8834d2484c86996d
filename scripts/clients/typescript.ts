import type { Schema } from '../../gateway/http/fields/field.ts';
import { type Api, aboutOf, type Call, capitalised, lines, nameOf } from './calls.ts';

const MAIN = 'Harkara';

/** The TypeScript client's main file, not yet formatted: types, a class for each group, and `Harkara` over them. */
export function typescriptOf({ groups, types }: Api): string {
  const names = [...groups.keys()];
  return `// Made by \`npm run clients\` from the declarations of the gateway's endpoints; do not edit.
import { type CallOptions, Http, type Options, type Pages } from './http.js';

export {
  type CallOptions, ConnectionError, HarkaraError, type Options, Pages, ProblemError,
} from './http.js';
export { verifyWebhook, verifyWebhooks, WebhookVerificationError } from './webhooks.js';

/** \`new ${MAIN}({ url, key })\`: the gateway's API for one account. */
export class ${MAIN} {
${names.map((name) => `  readonly ${name}: ${classOf(name)};`).join('\n')}

  constructor(options: Options) {
    const http = new Http(options);
${names.map((name) => `    this.${name} = new ${classOf(name)}(http);`).join('\n')}
  }
}

${[...groups].map(([name, calls]) => groupOf(name, calls)).join('\n\n')}

${[...types].map(([name, schema]) => declared(name, schema)).join('\n\n')}
`;
}

function groupOf(name: string, calls: readonly Call[]): string {
  return `class ${classOf(name)} {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

${calls.map(callOf).join('\n\n')}
}`;
}

/** `Calls` keeps it apart from the names of types. */
function classOf(group: string): string {
  return `${capitalised(group)}Calls`;
}

function callOf({ name, method, path, about, parts, query, bodies, bodyOptional, once, dryRun, answer }: Call): string {
  const taken = [
    ...parts.map((part) => `${camelCase(part)}: string`),
    ...(bodies.length > 0 ? [`body: ${bodies.join(' | ')}${bodyOptional ? ' = {}' : ''}`] : []),
    ...(query ? [`query: ${query.type}${query.optional ? ' = {}' : ''}`] : []),
    'options?: CallOptions',
  ];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, part) => `\${encodeURIComponent(${camelCase(part)})}`);
  const body = dryRun ? 'body: { ...body, dry_run: true }' : 'body';
  const asked = [
    ...(query ? ['query'] : []),
    ...(bodies.length > 0 ? [body] : []),
    ...(once ? ['once: true'] : []),
  ].join(', ');
  const request = `'${method}', ${parts.length > 0 ? `\`${filled}\`` : `'${path}'`}, { ${asked} }, options`;
  const [type, made] =
    answer.kind === 'file'
      ? ['Promise<Response>', `file(${request})`]
      : answer.kind === 'pages'
        ? [`Pages<${answer.type}, ${answer.entry}>`, `pages(${request}, '${answer.entries}')`]
        : [`Promise<${answer.type}>`, `json(${request})`];
  return `${comment(about, '  ')}  ${name}(${taken.join(', ')}): ${type} {
    return this.#http.${made};
  }`;
}

function declared(name: string, schema: Schema): string {
  const said = comment(aboutOf(name, schema), '');
  return Object.keys(schema.properties ?? {}).length === 0
    ? `${said}export type ${name} = ${typeOf(schema, '')};`
    : `${said}export interface ${name} ${typeOf(schema, '')}`;
}

function typeOf({ type, ...schema }: Schema, indent: string): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.oneOf !== undefined) return schema.oneOf.map((one) => typeOf(one, indent)).join(' | ');
  if (Array.isArray(type)) {
    return [...new Set(type.map((one: string) => typeOf({ ...schema, type: one }, indent)))].join(' | ');
  }
  switch (type) {
    case 'null':
      return 'null';
    case 'string':
      return (
        schema.enum
          ?.filter((one) => one !== null)
          .map((one) => JSON.stringify(one))
          .join(' | ') ?? 'string'
      );
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array': {
      const entry = typeOf(schema.items ?? {}, indent);
      return entry.includes(' | ') && !entry.startsWith('{') ? `(${entry})[]` : `${entry}[]`;
    }
    case 'object':
      return objectOf(schema, indent);
    default:
      return 'unknown';
  }
}

function objectOf({ properties = {}, required = [], additionalProperties: more }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    return `${comment(schema.description ?? '', inner)}${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};`;
  });
  if (fields.length === 0) return `Record<string, ${typeof more === 'object' ? typeOf(more, indent) : 'unknown'}>`;
  if (more === true) fields.push(`${inner}[more: string]: unknown;`);
  return `{\n${fields.join('\n')}\n${indent}}`;
}

function comment(words: string, indent: string): string {
  if (words === '') return '';
  const safe = words.replaceAll('*/', '*\\/');
  if (indent.length + safe.length <= 110) return `${indent}/** ${safe} */\n`;
  return [
    `${indent}/**`,
    ...lines(safe, 110 - indent.length).map((line) => `${indent} * ${line}`),
    `${indent} */\n`,
  ].join('\n');
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
}
