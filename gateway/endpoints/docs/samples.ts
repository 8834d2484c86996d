export interface Sample {
  readonly method: string;
  /** With values in place: `/v2/status/msg_…?limit=10`. */
  readonly path: string;
  readonly key: boolean;
  readonly idempotencyKey?: string;
  readonly body?: unknown;
  /** What is answered. Samples print it; curl stores a file. */
  readonly answers: 'json' | 'text' | 'file';
}

export const LANGUAGES = {
  curl: curlOf,
  'Node.js': nodeOf,
  Python: pythonOf,
  PHP: phpOf,
  Java: javaOf,
  Go: goOf,
} as const;

/**
 * Address and key come from the environment, because no key belongs in a file. The printers are our own: JSON is
 * JavaScript and almost Python (docs/decisions/0035 says what the libraries got wrong).
 */
function curlOf({ method, path, key, idempotencyKey, body, answers }: Sample): string {
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$HARKARA_URL${path}"`,
    ...(key ? ['-H "Authorization: Bearer $HARKARA_KEY"'] : []),
    ...(idempotencyKey === undefined ? [] : [`-H 'Idempotency-Key: ${idempotencyKey}'`]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${shellQuoted(json(body))}`]),
    ...(answers === 'file' ? ['--fail -o file'] : []),
  ];
  return lines.join(' \\\n  ');
}

function nodeOf({ method, path, key, idempotencyKey, body, answers }: Sample): string {
  const headers = [
    ...(key ? [`    Authorization: \`Bearer \${env.HARKARA_KEY}\`,`] : []),
    ...(idempotencyKey === undefined ? [] : [`    'Idempotency-Key': '${idempotencyKey}',`]),
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

function pythonOf({ method, path, key, idempotencyKey, body, answers }: Sample): string {
  const headers = [
    ...(key ? [`"Authorization": f"Bearer {os.environ['HARKARA_KEY']}"`] : []),
    ...(idempotencyKey === undefined ? [] : [`"Idempotency-Key": "${idempotencyKey}"`]),
  ];
  const options = [
    `    f"{os.environ['HARKARA_URL']}${path}",`,
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(', ')}},`]),
    ...(body === undefined ? [] : [`    json=${indented(indented(pythonValue(json(body))))},`]),
  ];
  return `import os\nimport requests\n\nanswer = requests.${method}(\n${options.join('\n')}\n)\nprint(answer.status_code, answer.${PYTHON_READS[answers]})`;
}

function phpOf({ method, path, key, idempotencyKey, body, answers }: Sample): string {
  const headers = [
    ...(key ? ["        'Authorization: Bearer ' . getenv('HARKARA_KEY'),"] : []),
    ...(idempotencyKey === undefined ? [] : [`        'Idempotency-Key: ${idempotencyKey}',`]),
    ...(body === undefined ? [] : ["        'Content-Type: application/json',"]),
  ];
  const options = [
    ...(method === 'get' ? [] : [`    'method' => '${method.toUpperCase()}',`]),
    ...(headers.length === 0 ? [] : ["    'header' => [", ...headers, '    ],']),
    ...(body === undefined ? [] : [`    'content' => json_encode(${indented(indented(phpValue(body)))}),`]),
    "    'ignore_errors' => true, // So that the body of an error is read too.",
  ];
  const read = `file_get_contents(getenv('HARKARA_URL') . '${path}', false, $context)`;
  const use = answers === 'file' ? `file_put_contents('file', ${read});` : `echo ${read};`;
  return `<?php\n$context = stream_context_create(['http' => [\n${options.join('\n')}\n]]);\n${use}`;
}

/** For `java Sample.java`. Texts of several lines need Java 15. */
function javaOf({ method, path, key, idempotencyKey, body, answers }: Sample): string {
  const text = body === undefined ? '' : json(body).replaceAll('\\', '\\\\').replaceAll('\n', '\n                ');
  const publisher = body === undefined ? 'noBody()' : `ofString("""\n                ${text}""")`;
  const calls = [
    ...(key ? ['.header("Authorization", "Bearer " + System.getenv("HARKARA_KEY"))'] : []),
    ...(idempotencyKey === undefined ? [] : [`.header("Idempotency-Key", "${idempotencyKey}")`]),
    ...(body === undefined ? [] : ['.header("Content-Type", "application/json")']),
    ...(method === 'get' ? [] : [`.method("${method.toUpperCase()}", HttpRequest.BodyPublishers.${publisher})`]),
    '.build();',
  ];
  const [handler, print] =
    answers === 'file'
      ? ['ofFile(java.nio.file.Path.of("file"))', 'answer.statusCode()']
      : ['ofString()', 'answer.statusCode() + " " + answer.body()'];
  return `import java.net.URI;
import java.net.http.*;

class Sample {
    public static void main(String[] args) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(System.getenv("HARKARA_URL") + "${path}"))
            ${calls.join('\n            ')}
        var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.${handler});
        System.out.println(${print});
    }
}`;
}

/** For `go run sample.go`. */
function goOf({ method, path, key, idempotencyKey, body, answers }: Sample): string {
  const text = body === undefined ? '' : json(body);
  const quoted = text.includes('`') ? JSON.stringify(text) : `\`${text}\``;
  const lines = [
    ...(body === undefined ? [] : [`body := strings.NewReader(${quoted})`]),
    `request, _ := http.NewRequest("${method.toUpperCase()}", os.Getenv("HARKARA_URL")+"${path}", ${body === undefined ? 'nil' : 'body'})`,
    ...(key ? ['request.Header.Set("Authorization", "Bearer "+os.Getenv("HARKARA_KEY"))'] : []),
    ...(idempotencyKey === undefined ? [] : [`request.Header.Set("Idempotency-Key", "${idempotencyKey}")`]),
    ...(body === undefined ? [] : ['request.Header.Set("Content-Type", "application/json")']),
    'answer, err := http.DefaultClient.Do(request)',
    'if err != nil {',
    '\tpanic(err)',
    '}',
    'defer answer.Body.Close()',
    'content, _ := io.ReadAll(answer.Body)',
    ...(answers === 'file'
      ? ['os.WriteFile("file", content, 0600)', 'fmt.Println(answer.Status)']
      : ['fmt.Println(answer.Status, string(content))']),
  ];
  const packages = ['fmt', 'io', 'net/http', 'os', ...(body === undefined ? [] : ['strings'])];
  const imports = packages.map((name) => `\t"${name}"`);
  return `package main\n\nimport (\n${imports.join('\n')}\n)\n\nfunc main() {\n${lines.map((line) => `\t${line}`).join('\n')}\n}`;
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

function phpValue(value: unknown): string {
  if (typeof value === 'string') {
    return value.includes('\n')
      ? JSON.stringify(value).replaceAll('$', '\\$')
      : `'${value.replaceAll(/['\\]/g, (sign) => `\\${sign}`)}'`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Array.isArray(value)
    ? value.map(phpValue)
    : Object.entries(value).map(([name, member]) => `${phpValue(name)} => ${phpValue(member)}`);
  if (members.length === 0) return Array.isArray(value) ? '[]' : 'new stdClass()';
  return `[\n  ${indented(members.join(',\n'))},\n]`;
}

/** Member names without quotes. Texts cannot match: their line breaks are written `\n`. */
function bareNames(text: string): string {
  return text.replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:');
}

/** `true`, `false` and `null` stand at the end of a line, where texts end with a quotation mark. */
function pythonValue(text: string): string {
  return text.replaceAll(/\b(true|false|null)(?=,?$)/gm, (word) => PYTHON_WORDS[word] ?? word);
}

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
