import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

/**
 * The house rules that the linter cannot say: which file may use which package, who reads clock and environment, which
 * layer imports which (docs/architecture in short: runtime, config ← mongo, sms ← concepts ← gateway | a worker ← scripts).
 */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

interface Source {
  readonly path: string;
  readonly text: string;
  /** Modules imported for their values; relative ones as paths from the root. */
  readonly imports: readonly string[];
}

const sources = ['gateway', 'workers', 'shared', 'scripts'].flatMap((top) => read(join(ROOT, top)));

/** Packages that exactly these files may import (values; a type costs nothing). */
const PACKAGE_HOMES: Readonly<Record<string, RegExp>> = {
  smpp: /^workers\/smpp\/pdu\.ts$/,
  undici: /^workers\/webhooks\/|^scripts\/(dev|bench)\//,
  axios: /^workers\/chatapp\/provider\/client\.ts$/,
  'csv-parse/sync': /^shared\/templates\/csv\.ts$/,
  lmdb: /^workers\/embedded-db\/storage\//,
  bson: /^workers\/embedded-db\/|^scripts\/bench\//,
  pino: /^shared\/runtime\/log\.ts$/,
  'prom-client': /^shared\/(runtime\/metrics|processes\/report)\.ts$/,
  'node-cron': /^workers\/maintenance\/timetable\.ts$/,
  'libphonenumber-js/max': /^shared\/messages\/number-check\.ts$/,
  'ipaddr.js': /^shared\/webhooks\/public-address\.ts$|^shared\/keys\/allowed-addresses\.ts$|^gateway\/http\//,
  mongodb: /^shared\/[a-z]+\/[a-z-]*store\.ts$|^shared\/mongo\/|^shared\/messages\/debit\.ts$|^scripts\//,
  standardwebhooks: /^scripts\/simulator\//,
  agenda: /^workers\/schedules\/alarm\.ts$/,
  '@agendajs/mongo-backend': /^workers\/schedules\/alarm\.ts$/,
  piscina: /^workers\/batches\/render-threads\.ts$/,
  pm2: /^$/,
};

/** Folders of shared/ in layers; a layer imports its own and earlier ones. Concepts (all others) come last. */
const LAYERS = ['runtime', 'config', 'mongo', 'sms'];

describe('house rules', () => {
  it('a package is imported only in its home', () => {
    const strays = sources.flatMap(({ path, imports }) =>
      imports
        .filter((module) => PACKAGE_HOMES[module] !== undefined && !PACKAGE_HOMES[module]?.test(path))
        .map((module) => `${path} imports ${module}`),
    );

    expect(strays).to.deep.equal([]);
  });

  it('only config reads the environment, only clock the time', () => {
    const product = sources.filter(({ path }) => !path.startsWith('scripts/'));
    const strays = product.flatMap(({ path, text }) => [
      ...(/process\.env/.test(text) && !path.startsWith('shared/config/') ? [`${path} reads process.env`] : []),
      ...(/Date\.now\(\)|new Date\(\)|performance\.now\(\)/.test(text) &&
      path !== 'shared/runtime/clock.ts' &&
      !['shared/mongo/connect.ts'].includes(path) &&
      !path.startsWith('workers/embedded-db/')
        ? [`${path} reads the clock`]
        : []),
    ]);

    expect(strays).to.deep.equal([]);
  });

  it('shared/ imports downwards: runtime, config, mongo and sms know no concept', () => {
    const strays = sources
      .filter(({ path }) => path.startsWith('shared/'))
      .flatMap(({ path, imports }) => {
        const layer = LAYERS.indexOf(path.split('/')[1] ?? '');
        if (layer === -1) return [];
        return imports
          .filter((module) => module.startsWith('shared/'))
          .filter((module) => {
            const other = LAYERS.indexOf(module.split('/')[1] ?? '');
            // runtime/ and config/ are one layer: a setting's error is a StartError.
            return other === -1 || (other > layer && other > 1);
          })
          .map((module) => `${path} imports ${module}`);
      });

    expect(strays).to.deep.equal([]);
  });

  it('a worker imports no other worker', () => {
    const strays = sources.flatMap(({ path, imports }) => {
      const [top, worker] = path.split('/');
      if (top !== 'workers') return [];
      return imports
        .filter((module) => module.startsWith('workers/') && module.split('/')[1] !== worker)
        .map((module) => `${path} imports ${module}`);
    });

    expect(strays).to.deep.equal([]);
  });

  it('no folder is an attic and no file a novel', () => {
    const attics = sources.filter(({ path }) => /\/(utils?|helpers?|types|common|misc)[./]/.test(path));
    const novels = sources.filter(({ text }) => text.split('\n').length > 400);

    expect([...attics, ...novels].map(({ path }) => path)).to.deep.equal([]);
  });

  it('the lock file names every optional platform package', () => {
    // Or `npm ci` refuses it: npm drops from it what a registry does not serve (docs/decisions/0004).
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const locked = Object.keys(lock.packages);

    const missing = Object.values(lock.packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !locked.some((path) => path.endsWith(`node_modules/${name}`)));

    expect(missing).to.deep.equal([]);
  });

  it('no source speaks of work that is not done', () => {
    const marks = sources.filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text));

    expect(marks.map(({ path }) => path)).to.deep.equal([]);
  });
});

function read(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|js)$/.test(entry.name) && !entry.name.endsWith('.d.ts'))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const text = readFileSync(file, 'utf8');
      return { path: relative(ROOT, file), text, imports: importsOf(file, text) };
    });
}

function importsOf(file: string, text: string): string[] {
  const statements = text.matchAll(/^(?:import|export)\s+(?!type\b)([^;'"]*?\sfrom\s+)?'([^']+)'/gm);
  return [...statements]
    .filter(([, names = '']) => !/^\{(\s*type\s+\w+\s*,?)+\s*\}\s*from/.test(names.trim()))
    .map(([, , module = '']) => (module.startsWith('.') ? relative(ROOT, join(dirname(file), module)) : module));
}
