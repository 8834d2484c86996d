import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Debian's program folders; /usr/sbin is not on everybody's PATH. */
const FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin'];

/**
 * The path of a Debian package's program. If it is missing, the test fails with what to install: the peers suite never
 * skips, because a skipped suite proves nothing.
 */
export async function debianProgram(name: string, debianPackage: string): Promise<string> {
  for (const folder of FOLDERS) {
    const path = `${folder}/${name}`;
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  throw new Error(missing(name, debianPackage));
}

/** Fails like {@link debianProgram} unless a Perl module can be loaded. */
export async function perlModule(module: string, debianPackage: string): Promise<void> {
  await execute(await debianProgram('perl', 'perl'), [`-M${module}`, '-e', '1']).catch((cause: unknown) => {
    throw new Error(missing(`Perl's ${module}`, debianPackage), { cause });
  });
}

/** Fails like {@link debianProgram} unless a file of a package exists. */
export async function debianFile(path: string, debianPackage: string): Promise<void> {
  await access(path).catch((cause: unknown) => {
    throw new Error(missing(path, debianPackage), { cause });
  });
}

function missing(what: string, debianPackage: string): string {
  return `${what} is not installed: run "apt-get install ${debianPackage}" (all peers: test/peers/README.md)`;
}
