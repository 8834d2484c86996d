import type { Schema } from '../../gateway/http/fields/field.ts';
import { type Api, aboutOf, type Call, capitalised, lines, nameOf } from './calls.ts';

/** The generated files of the Python client by path: the types, and the calls, sync and async. */
export function pythonOf(api: Api): Readonly<Record<string, string>> {
  return {
    'harkara/types.py': typesOf(api),
    'harkara/_calls.py': callsOf(api, SYNC),
    'harkara/_async_calls.py': callsOf(api, ASYNC),
  };
}

const MADE = "# Made by `npm run clients` from the declarations of the gateway's endpoints; do not edit.";

const SYNC = { def: 'def', wait: '', class: '', context: 'AbstractContextManager' };
const ASYNC = { def: 'async def', wait: 'await ', class: 'Async', context: 'AbstractAsyncContextManager' };
type Kind = typeof SYNC;

function callsOf({ groups }: Api, kind: Kind): string {
  const names = [...groups.keys()];
  return `${MADE}
from __future__ import annotations

from contextlib import ${kind.context}
from typing import Any, Unpack, overload

import httpx

from . import types
from ._http import ${kind.class}Http, ${kind.class}Pages, part


class ${kind.class}Groups:
    def __init__(self, http: ${kind.class}Http) -> None:
${names.map((name) => `        self.${snakeCase(name)} = ${groupClass(name)}(http)`).join('\n')}


${[...groups].map(([name, some]) => groupOf(name, some, kind)).join('\n\n\n')}
`;
}

/** `Calls` keeps it apart from the names of types. */
function groupClass(group: string): string {
  return `${capitalised(group)}Calls`;
}

function groupOf(name: string, calls: readonly Call[], kind: Kind): string {
  return `class ${groupClass(name)}:
    def __init__(self, http: ${kind.class}Http) -> None:
        self._http = http

${calls.map((call) => callOf(call, kind)).join('\n\n')}`;
}

function callOf({ name, method, path, about, parts, query, bodies, once, dryRun, answer }: Call, kind: Kind): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, '{part($1)}');
  const asked = [
    `"${method}"`,
    `${parts.length > 0 ? 'f' : ''}"${filled}"`,
    ...(answer.kind === 'pages' ? [`"${answer.entries}"`] : []),
    ...(query ? ['query=query'] : []),
    ...(bodies.length > 0 ? [dryRun ? 'body={**body, "dry_run": True}' : 'body=body'] : []),
    ...(once ? ['once=True', 'idempotency_key=idempotency_key'] : []),
  ].join(', ');
  const [def, type, lines] =
    answer.kind === 'json'
      ? [
          kind.def,
          `types.${answer.type}`,
          [`answer: types.${answer.type} = ${kind.wait}self._http.json(${asked})`, 'return answer'],
        ]
      : answer.kind === 'pages'
        ? [
            'def',
            `${kind.class}Pages[types.${answer.type}, types.${answer.entry}]`,
            [`return ${kind.class}Pages(self._http, ${asked})`],
          ]
        : ['def', `${kind.context}[httpx.Response]`, [`return self._http.file(${asked})`]];
  // If a call has both, the body's members become keywords.
  const apart = query !== undefined && bodies.length > 0;
  const placed = [
    ...parts.map((one) => `${one}: str`),
    ...(apart ? [`query: types.${query.type}${query.optional ? ' = {}' : ''}`] : []),
  ];
  const head = (words: string): string => {
    const taken = [
      'self',
      ...(placed.length > 0 ? [...placed, '/'] : []),
      ...(once ? ['*', 'idempotency_key: str | None = None'] : []),
      ...(words === '' ? [] : [words]),
    ];
    return `    ${def} ${snakeCase(name)}(${taken.join(', ')}) -> ${type}:`;
  };
  const body = [`"""${about}"""`, ...lines].map((line) => `        ${line}`).join('\n');
  const words =
    query && !apart
      ? `**query: Unpack[types.${query.type}]`
      : bodies.length === 1
        ? `**body: Unpack[types.${bodies[0]}]`
        : '';
  if (bodies.length < 2) return `${head(words)}\n${body}`;
  const forms = bodies.map((one) => `    @overload\n${head(`**body: Unpack[types.${one}]`)} ...\n\n`);
  return `${forms.join('')}${head('**body: Any')}\n${body}`;
}

function typesOf({ groups, types }: Api): string {
  const calls = [...groups.values()].flat();
  const words = new Set(calls.flatMap(({ query, bodies }) => [...(query ? [query.type] : []), ...bodies]));
  const classes = new Map<string, string>();
  const aliases: string[] = [];
  for (const [name, schema] of types) {
    if (schema.properties === undefined) aliases.push(aliasOf(name, schema, classes));
    else dictOf(name, schema, classes, words.has(name));
  }
  return `${MADE}
"""Types of everything that is sent and answered: dictionaries, with the names of the API's documentation."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


${[...classes.values()].join('\n\n')}

${aliases.join('\n')}
`;
}

function aliasOf(name: string, schema: Schema, classes: Map<string, string>): string {
  const type = typeOf(schema, name, classes);
  return type.includes(' | ')
    ? `${name}: TypeAlias = (\n    ${type.replaceAll(' | ', '\n    | ')}\n)`
    : broken(`${name}: TypeAlias = ${type}`, '');
}

/** `words`: the members become keyword arguments, so Python's reserved words get a trailing `_`. */
function dictOf(name: string, schema: Schema, classes: Map<string, string>, words = false): void {
  if (classes.has(name)) throw new Error(`Two types would be named ${name}.`);
  classes.set(name, ''); // reserve its place before the classes that it contains
  const { properties = {}, required = [] } = schema;
  const fields = Object.entries(properties).map(([field, inner]) => {
    const type = typeOf(inner, name + field.split('_').map(capitalised).join(''), classes);
    return {
      field: words && KEYWORDS.has(field) ? `${field}_` : field,
      type: required.includes(field) ? type : `NotRequired[${type}]`,
      about: inner.description ?? '',
    };
  });
  const about = aboutOf(name, schema);
  classes.set(
    name,
    fields.some(({ field }) => KEYWORDS.has(field)) ? madeOf(name, about, fields) : classOf(name, about, fields),
  );
}

interface Member {
  readonly field: string;
  readonly type: string;
  readonly about: string;
}

function classOf(name: string, about: string, fields: readonly Member[]): string {
  const members = fields.map(
    ({ field, type, about: said }) => `${broken(`    ${field}: ${type}`, '    ')}\n${docstring(said)}`,
  );
  return `class ${name}(TypedDict):\n${about === '' ? '' : `${docstring(about)}\n`}${members.join('') || '    pass\n'}`;
}

/** The functional form of TypedDict, which allows any member name, such as `from`. */
function madeOf(name: string, about: string, fields: readonly Member[]): string {
  const members = fields.map(
    ({ field, type, about: said }) =>
      `${remark(said, '        ')}        "${field}": "${type.replaceAll('"', "'")}",\n`,
  );
  return `${remark(about, '')}${name} = TypedDict(\n    "${name}",\n    {\n${members.join('')}    },\n)\n`;
}

const MOST = 115;

function remark(words: string, indent: string): string {
  return words === ''
    ? ''
    : lines(words, MOST - indent.length)
        .map((line) => `${indent}# ${line}\n`)
        .join('');
}

function docstring(words: string): string {
  if (words === '') return '';
  const safe = words.replaceAll('\\', '\\\\').replaceAll('"', "'");
  const all = lines(safe, MOST - 10);
  return all.length === 1 ? `    """${safe}"""\n` : `    """\n${all.map((line) => `    ${line}\n`).join('')}    """\n`;
}

/** Breaks a long line inside brackets, between the values of a `Literal`. */
function broken(line: string, indent: string): string {
  return line.length <= MOST || line.includes(' | ')
    ? line
    : lines(line.trimStart(), MOST - 10)
        .map((one, index) => `${index === 0 ? indent : `${indent}    `}${one}`)
        .join('\n');
}

function typeOf({ type, ...schema }: Schema, name: string, classes: Map<string, string>): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.oneOf !== undefined) return schema.oneOf.map((one) => typeOf(one, name, classes)).join(' | ');
  if (Array.isArray(type)) {
    return [...new Set(type.map((one: string) => typeOf({ ...schema, type: one }, name, classes)))].join(' | ');
  }
  switch (type) {
    case 'null':
      return 'None';
    case 'string':
      return schema.enum === undefined
        ? 'str'
        : `Literal[${schema.enum
            .filter((one) => one !== null)
            .map(literal)
            .join(', ')}]`;
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'array':
      return `list[${typeOf(schema.items ?? {}, name, classes)}]`;
    case 'object': {
      const { properties, additionalProperties: more } = schema;
      if (properties === undefined) {
        return `dict[str, ${typeof more === 'object' ? typeOf(more, name, classes) : 'Any'}]`;
      }
      dictOf(name, schema, classes);
      return name;
    }
    default:
      return 'Any';
  }
}

function literal(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

/** Reserved words of Python that may be field names. */
const KEYWORDS = new Set([
  'and',
  'as',
  'class',
  'for',
  'from',
  'global',
  'import',
  'in',
  'is',
  'not',
  'or',
  'pass',
  'with',
]);

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
