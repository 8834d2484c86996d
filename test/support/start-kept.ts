import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';

/**
 * Starts the bundle beside it (`main.cjs`) with V8's compiled code from an earlier process. The first process that ends
 * by itself after a build keeps the code. V8 accepts it only in the same version with the same flags.
 */
const bundle = join(import.meta.dirname, 'main.cjs');
const kept = join(import.meta.dirname, `main.${[process.version, ...process.execArgv].join('')}.code`);
const changedMs = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const builtMs = changedMs(bundle);
const isKept = changedMs(kept) > builtMs;
// node:module's wrapper around a file, with this one's name for `import.meta.url`.
const source = `(function (require, module, exports, __filename, __dirname, __url) {${readFileSync(bundle, 'utf8')}\n})`;
const script = new Script(source, { filename: bundle, ...(isKept && { cachedData: readFileSync(kept) }) });
const own = { exports: {} };
script.runInThisContext()(createRequire(bundle), own, own.exports, bundle, import.meta.dirname, import.meta.url);

if (!isKept) {
  process.once('exit', () => {
    // If the bundle was rebuilt meanwhile, this code would be wrong.
    if (changedMs(kept) > builtMs || changedMs(bundle) !== builtMs) return;
    const fresh = `${kept}.${process.pid}`;
    writeFileSync(fresh, script.createCachedData());
    renameSync(fresh, kept);
  });
}
