import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** A file of the product, for `tidy.test.ts`. */
interface Source {
  readonly path: string;
  readonly text: string;
  /** Modules imported for their values; relative ones as paths from the root. */
  readonly imports: readonly string[];
  /** Our files that it imports, for values or types. */
  readonly names: readonly string[];
}

export function readSources(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|mjs|js)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, 'utf8');
      return { path: relative(ROOT, file), text, imports: importsOf(file, text), names: namesOf(file, text) };
    });
}

function importsOf(file: string, text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)([^;'"]*?\sfrom\s+)?'([^']+)'/gm);
  return [...statements]
    .filter(([, names = '']) => !/^\{(\s*type\s+\w+\s*,?)+\s*\}\s*from/.test(names.trim()))
    .map(([, , module = '']) => (module.startsWith('.') ? relative(ROOT, join(dirname(file), module)) : module));
}

/** PM2's file, which names modules as they are built. */
export function ecosystem(): Source {
  const file = join(ROOT, 'ecosystem.config.js');
  const text = readFileSync(file, 'utf8').replaceAll(
    /const (\{[^}]*\}) = require\('\.\/dist\/([^']+)\.js'\)/g,
    (_, names, module) => `import ${names} from './${module}.ts'`,
  );
  return { path: relative(ROOT, file), text, imports: importsOf(file, text), names: namesOf(file, text) };
}

/** Imported and re-exported names, as `<file> <name>`; `*` stands for all names of a file. */
export function importedNames(path: string, text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?:type\s+)?([^;'"]*?)\s+from\s+'(\.{1,2}\/[^']+)'/gm);
  const dynamic = text.matchAll(/()\bimport\('(\.{1,2}\/[^']+)'\)/g);
  return [...statements, ...dynamic].flatMap(([, clause = '', module = '']) => {
    const file = relative(ROOT, join(ROOT, dirname(path), module));
    const [, names] = /\{([^}]*)\}/.exec(clause) ?? [];
    if (names === undefined) return [`${file} *`];
    return names.split(',').map(
      (name) =>
        `${file} ${name
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*$/s, '')}`,
    );
  });
}

/** Without types, which cost nothing and often belong to one of these. */
export function exportedValues(text: string): string[] {
  const declared = text.matchAll(/^export (?:abstract )?(?:async )?(?:function\*?|class|const|let) (\w+)/gm);
  return [...declared].map(([, name = '']) => name);
}

/** The folders that `from` imports, directly or through others. */
export function reaches(arrows: ReadonlyMap<string, ReadonlySet<string>>, from: string): Set<string> {
  const found = new Set<string>();
  const next = [...(arrows.get(from) ?? [])];
  for (let folder = next.pop(); folder !== undefined; folder = next.pop()) {
    if (found.has(folder)) continue;
    found.add(folder);
    next.push(...(arrows.get(folder) ?? []));
  }
  return found;
}

/** The files that `path` imports, and recursively those that files in shared/ import. */
export function filesReachedFrom(path: string, byName: ReadonlyMap<string, Source>): Set<string> {
  const found = new Set<string>();
  const next = [...(byName.get(path)?.names ?? [])];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    if (file.startsWith('shared/')) next.push(...(byName.get(file)?.names ?? []));
  }
  return found;
}

function namesOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+\.tsx?)'/g)].map(([, module = '']) =>
    relative(ROOT, join(dirname(file), module)),
  );
}
