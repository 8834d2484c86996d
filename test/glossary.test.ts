import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

interface Entry {
  readonly word: string;
  readonly never: readonly string[];
}

/** Old words that newcomers had to read twice, banned from names, comments and texts. */
const BANNED = /\b(mend(s|ed|ing)?|rehears(e|es|ed|al)|crumbs?)\b/i;

describe('docs/glossary.md', () => {
  const entries = readGlossary();
  const sources = ['gateway', 'workers', 'shared', 'scripts'].flatMap(readSources);
  const names = new Map<string, string>();
  for (const { path, text } of sources) {
    for (const word of [path, ...declaredNames(text), ...toldNames(text)].flatMap(wordsOf)) {
      if (!names.has(word)) names.set(word, path);
    }
  }

  it('has words that the code uses as names', () => {
    const unused = entries.filter(({ word }) => word.split(' ').some((part) => !isUsed(part, names)));

    expect(unused.map(({ word }) => word)).to.deep.equal([]);
  });

  it('has one word for each thing: no name uses another', () => {
    const found = entries.flatMap(({ word, never }) =>
      never.filter((other) => names.has(other)).map((other) => `${names.get(other)}: ${other}, should be ${word}`),
    );

    expect(found).to.deep.equal([]);
  });

  it('and no source uses a word that has to be read twice', () => {
    const found = sources.flatMap(({ path, text }) =>
      text
        .split('\n')
        .map((line, index) => ({ place: `${path}:${index + 1}`, found: BANNED.exec(line)?.[0] }))
        .filter(({ found }) => found !== undefined)
        .map(({ place, found }) => `${place}: ${found}`),
    );

    expect(found).to.deep.equal([]);
  });
});

function readGlossary(): Entry[] {
  const rows = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8').matchAll(/^\| ([a-z ]+?) +\|[^|]+\|([^|]*)\|$/gm);
  return [...rows]
    .filter(([, word]) => word !== 'word')
    .map(([, word = '', never = '']) => ({ word, never: never.split(',').flatMap((other) => other.trim() || []) }));
}

function isUsed(word: string, names: ReadonlyMap<string, string>): boolean {
  return [word, `${word}s`, `${word}ed`, `${word}d`, `${word.slice(0, -1)}ies`].some((form) => names.has(form));
}

/** Functions, classes, types, constants, variables and members that a source declares. */
function declaredNames(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'[^'\n]*'|`[^`]*`/g, ' ');
  return [...code.matchAll(/\b(?:function|class|interface|type|const|let|readonly)\s+#?([A-Za-z]\w*)/g)].map(
    ([, name = '']) => name,
  );
}

/** Names of log lines and metrics, which operators read. */
function toldNames(text: string): string[] {
  const told = text.matchAll(/\b(?:debug|info|warn|error|counter|gauge|histogram|summary)\(\s*'([a-z_]+)'/g);
  return [...told].map(([, name = '']) => name);
}

/** `shared/money/payment/debit.ts` and `debitAgain` as lower-case words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/\.(ts|js)$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
}

function readSources(folder: string): { readonly path: string; readonly text: string }[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return { path: relative(ROOT, file), text: readFileSync(file, 'utf8') };
    });
}
