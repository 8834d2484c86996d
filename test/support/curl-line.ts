export interface CurlAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The text's curl lines for this path, in order, with its HARKARA_KEY. Throws if there is none. */
export function curlLines(text: string, path: string): string[] {
  const key = /HARKARA_KEY=(\S+)/.exec(text)?.[1] ?? '$HARKARA_KEY';
  const lines = text.split('\n').filter((line) => line.includes('curl -s http') && line.includes(path));
  if (lines.length === 0) throw new Error(`no curl line for ${path} in:\n${text}`);
  return lines.map((line) => line.replace('$HARKARA_KEY', key));
}

/** Sends a printed curl line's request, split into words as by a shell, because a machine may have no curl. */
export async function doCurlLine(line: string): Promise<CurlAnswer> {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
  const after = (option: string) => words.flatMap((word, i) => (word === option ? [words[i + 1] ?? ''] : []));
  const url = words.find((word) => word.startsWith('http://'));
  if (url === undefined) throw new Error(`no address in ${line}`);
  const [body] = after('-d');
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: after('-H').map((header): [string, string] => [header.split(': ')[0] ?? '', header.split(': ')[1] ?? '']),
    ...(body === undefined ? {} : { body }),
  });
  const json: unknown = await answer.json();
  return { status: answer.status, body: { ...Object(json) } };
}
