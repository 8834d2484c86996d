import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runOps } from '../scripts/ops/run.ts';
import { readSources } from './support/sources.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['docs', 'gateway', 'workers', 'shared', 'scripts', 'test'];

/** Decisions describe the day they were written, with the paths of that day. */
const HISTORY = /^docs\/decisions\//;

const pages = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  ),
]
  .filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md')
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

describe('the pages for readers', () => {
  it('have links that lead somewhere', () => {
    const dead = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(ROOT, dirname(path), link)))
        .map((link) => `${path}: ${link}`),
    );

    expect(dead).to.deep.equal([]);
  });

  it('name files that are there', () => {
    const gone = pages
      .filter(({ path }) => !HISTORY.test(path))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:gateway|workers|shared|scripts|test)\/[\w/.-]+\.ts)`/g)]
          .map(([, named = '']) => named)
          .filter((named) => ![ROOT, dirname(join(ROOT, path))].some((from) => existsSync(join(from, named))))
          .map((named) => `${path}: ${named}`),
      );

    expect(gone).to.deep.equal([]);
  });

  it('tell operators of every line that the log has at level 50', () => {
    const manual = pages.find(({ path }) => path === 'docs/operating.md')?.text ?? '';
    const lines = ['gateway', 'workers', 'shared']
      .flatMap((folder) => readSources(join(ROOT, folder)))
      .flatMap(({ text }) => [...text.matchAll(/\blog\.error\(\s*'([a-z_]+)'/g)].map(([, line = '']) => line));

    expect(lines).to.include('disk_full');
    expect([...new Set(lines)].filter((line) => !manual.includes(`\`${line}\``))).to.deep.equal([]);
  });

  it('explain all metrics, and alerts ask for no others', () => {
    const manual = pages.find(({ path }) => path === 'docs/operating.md')?.text ?? '';
    const alerts = readFileSync(join(ROOT, 'docs/monitoring/alerts.yml'), 'utf8');
    const made = ['gateway', 'workers', 'shared']
      .flatMap((folder) => readSources(join(ROOT, folder)))
      .flatMap(({ text }) => [...text.matchAll(/metrics\.(?:counter|gauge|histogram)\(\s*'([a-z_]+)'/g)])
      .map(([, name = '']) => name);
    const asked = [...alerts.matchAll(/harkara_([a-z_]+?)(?:_bucket)?\b/g)].map(([, name = '']) => name);

    expect(made.length).to.be.greaterThan(40);
    expect(made.filter((name) => !manual.includes(`\`${name}`))).to.deep.equal([]);
    expect([...new Set(asked)].filter((name) => name !== 'processes' && !made.includes(name))).to.deep.equal([]);
  });

  it('and comments name files that are there', () => {
    const sources = FOLDERS.filter((folder) => folder !== 'docs').flatMap((folder) => readSources(join(ROOT, folder)));
    const paths = sources.map(({ path }) => `/${path}`);
    const gone = sources.flatMap(({ path, text }) =>
      (text.match(/\/\*\*[\s\S]*?\*\/|^\s*\/\/ .*$/gm) ?? [])
        .flatMap((comment) => comment.match(/[\w./-]+\.tsx?\b/g) ?? [])
        .map((named) => named.replace(/^(\.{0,2}\/)+/, ''))
        .filter((named) => !paths.some((one) => one.endsWith(`/${named}`)))
        .map((named) => `${path}: ${named}`),
    );

    expect(gone).to.deep.equal([]);
  });

  it('name commands and options of ops that are there, as the texts of the gateway and of its pages do', async () => {
    const texts = readdirSync(join(ROOT, 'gateway'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => ({ path: file, text: readFileSync(join(ROOT, 'gateway', file), 'utf8') }));
    const named = [...pages.filter(({ path }) => !HISTORY.test(path)), ...texts].flatMap(({ path, text }) =>
      [...text.matchAll(/\bops (?:-- )?([a-z-]+) ([a-z-]+)([^`\n#|;&<]*)/g)].map(
        ([all, noun = '', verb = '', rest = '']) => {
          return {
            place: `${path}: ${all}`,
            noun,
            verb,
            options: [...rest.matchAll(/--([a-z-]+)/g)].map(([, one]) => one),
          };
        },
      ),
    );

    const wrong: string[] = [];
    for (const { place, noun, verb, options } of named) {
      const isNoun = (await helpOf([noun])) !== undefined;
      if (!isNoun) continue; // Some other sentence with the word.
      const help = await helpOf([noun, verb]);
      const has = options.every((option) => option === 'json' || help?.includes(` --${option} `));
      if (help === undefined || !has) wrong.push(place);
    }
    expect(wrong).to.deep.equal([]);
  });
});

async function helpOf(words: readonly string[]): Promise<string | undefined> {
  let help = '';
  const noConfig = (): never => {
    throw new Error('help needs no settings');
  };
  const code = await runOps([...words, '--help'], { out: (text) => (help += text), err: () => {} }, noConfig);
  return code === 0 ? help : undefined;
}
