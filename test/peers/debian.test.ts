import { debianFile, debianProgram, perlModule } from '../support/debian.ts';

describe('programs of Debian packages', () => {
  it('are found by name', async () => {
    expect(await debianProgram('perl', 'perl')).match(/^\/usr\/.*\/perl$/);
  });

  it('fail with the line to install them when they are missing', async () => {
    const failures = await Promise.all(
      [
        debianProgram('no-such-program', 'its-package'),
        perlModule('No::Such', 'its-package'),
        debianFile('/no/such/file', 'its-package'),
      ].map((missing) => missing.catch((error: unknown) => String(error))),
    );

    for (const failure of failures) expect(failure).include('is not installed: run "apt-get install its-package"');
  });
});
