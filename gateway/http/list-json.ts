import { Slice } from './slice.ts';

/**
 * `{"<name>": [ … ]}` as text, for a list that may have thousands of entries. Built in slices as the entries are
 * read.
 */
export async function listJson(name: string, entries: AsyncIterable<object>): Promise<string> {
  const texts: string[] = [];
  const slice = new Slice();
  for await (const entry of entries) {
    if (slice.over) await slice.rest();
    texts.push(JSON.stringify(entry));
  }
  return `{"${name}":[${texts.join(',')}]}`;
}
