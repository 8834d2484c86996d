/** The same request on a command line. */
export function curlOf(path: string, body: object): string {
  const json = JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`);
  return `curl -s ${location.origin}${path} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\\n  -d '${json}'`;
}
