/** One request, to be shown in several languages. */
export interface Sample {
  readonly method: string;
  /** With its values in place, as `/v2/status/msg_…?limit=10`. */
  readonly path: string;
  /** Whether the request needs a key. */
  readonly key: boolean;
  readonly body?: unknown;
  /** What is answered. The samples print it; that of curl stores a file. */
  readonly answers: 'json' | 'text' | 'file';
}

export const LANGUAGES = { curl: curlOf, 'Node.js': nodeOf, Python: pythonOf } as const;

/**
 * The address and the key come from the environment: they differ for everybody, and a key has no place in a file. These
 * printers are our own: JSON is JavaScript, and almost Python. (docs/decisions/0035 says what the libraries got wrong.)
 */
function curlOf({ method, path, key, body, answers }: Sample): string {
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$HARKARA_URL${path}"`,
    ...(key ? ['-H "Authorization: Bearer $HARKARA_KEY"'] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellQuoted(json(body))}`]),
    ...(answers === 'file' ? ['--fail -o file'] : []),
  ];
  return lines.join(' \\\n  ');
}

function nodeOf({ method, path, key, body, answers }: Sample): string {
  const headers = [
    ...(key ? [`    Authorization: \`Bearer \${env.HARKARA_KEY}\`,`] : []),
    ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'get' ? [] : [`  method: '${method.toUpperCase()}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(bareNames(json(body)))}),`]),
  ];
  const more = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `import { env } from 'node:process';\n\nconst answer = await fetch(\`\${env.HARKARA_URL}${path}\`${more});\nconsole.log(answer.status, await answer.${NODE_READS[answers]}());`;
}

function pythonOf({ method, path, key, body, answers }: Sample): string {
  const options = [
    `    f"{os.environ['HARKARA_URL']}${path}",`,
    ...(key ? [`    headers={"Authorization": f"Bearer {os.environ['HARKARA_KEY']}"},`] : []),
    ...(body === undefined ? [] : [`    json=${indented(indented(pythonValue(json(body))))},`]),
  ];
  return `import os\nimport requests\n\nanswer = requests.${method}(\n${options.join('\n')}\n)\nprint(answer.status_code, answer.${PYTHON_READS[answers]})`;
}

const NODE_READS = { json: 'json', text: 'text', file: 'arrayBuffer' } as const;
const PYTHON_READS = { json: 'json()', text: 'text', file: 'content' } as const;

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

/** Member names without quotes. Lines of a JSON text begin with a member, a value or a bracket: line breaks in texts are `\n`. */
function bareNames(text: string): string {
  return text.replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:');
}

/** JSON's three words stand at the end of a line, where texts end with a quotation mark. */
function pythonValue(text: string): string {
  return text.replaceAll(/\b(true|false|null)(?=,?$)/gm, (word) => PYTHON_WORDS[word] ?? word);
}

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
