import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import PostalMime from 'postal-mime';
import { freePort } from '../../scripts/bench/fleet.ts';
import { debianProgram } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';

const execute = promisify(execFile);

/** Exim requires TLS and a name first, has one unknown and one busy address, and keeps mails in its queue. */
const configuration = (folder: string, port: number) => `
primary_hostname = mail.example.com
spool_directory = ${folder}/spool
log_file_path = ${folder}/log-%s
pid_file_path = ${folder}/pid
keep_environment =
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
queue_only = true
acl_smtp_rcpt = rcpt
begin acl
rcpt:
  deny message = no such user
    local_parts = gone
  defer message = try later
    local_parts = busy
  accept authenticated = *
  deny message = who are you
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_condition = \${if and{{eq{$auth2}{harkara}}{eq{$auth3}{right}}}}
  server_advertise_condition = \${if def:tls_in_cipher}
`;

/** Debian's mail server without root: a copy without the setuid bit, under fakeroot. */
describe('mails to Exim', function () {
  this.timeout(120_000);
  let folder = '';
  let port = 0;
  let exim: ChildProcess | undefined;
  before(async () => {
    const [program, fakeroot, openssl] = await Promise.all([
      debianProgram('exim4', 'exim4-daemon-light'),
      debianProgram('fakeroot', 'fakeroot'),
      debianProgram('openssl', 'openssl'),
    ]);
    folder = await mkdtemp(join(tmpdir(), 'harkara-exim-'));
    port = await freePort();
    await mkdir(join(folder, 'spool'));
    await copyFile(program, join(folder, 'exim'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate];
    await execute(openssl, [...made, ...names]);
    await writeFile(join(folder, 'conf'), configuration(folder, port));
    const words = [join(folder, 'exim'), '-C', join(folder, 'conf'), '-bdf'];
    // Its own group: fakeroot is a shell that would leave the server behind.
    exim = spawn(fakeroot, words, { detached: true, stdio: 'ignore' });
    await eventually(() => accepts(port), 'Exim listens');
  });
  after(async () => {
    if (exim?.pid !== undefined) process.kill(-exim.pid, 'SIGTERM');
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });

  const send = async (password: string, addresses: readonly string[], trusts = true): Promise<unknown[]> => {
    const words = [
      '--import',
      'tsx',
      join(import.meta.dirname, 'mail-sender.ts'),
      String(port),
      password,
      ...addresses,
    ];
    const env = { ...process.env, ...(trusts && { NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') }) };
    const { stdout } = await execute(process.execPath, words, { env });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  };
  const queued = async () => {
    const files = await readdir(join(folder, 'spool', 'input')).catch(() => []);
    return files.filter((name) => name.endsWith('-D'));
  };

  it('are taken over TLS after signing in; what it refuses for good or for now is told apart', async () => {
    const results = await send('right', ['asha@example.com', 'gone@example.com', 'busy@example.com', 'b@example.com']);

    expect(results).to.deep.equal([
      { kind: 'taken' },
      { kind: 'refused', forGood: true, words: '550 no such user' },
      { kind: 'refused', forGood: false, words: '451 try later' },
      { kind: 'taken' },
    ]);
    const data = await queued();
    expect(data).to.have.length(2);
    const [first = ''] = data.sort();
    const body = await readFile(join(folder, 'spool', 'input', first), 'utf8');
    const header = await readFile(join(folder, 'spool', 'input', first.replace(/D$/, 'H')), 'utf8');
    const headers = header.slice(header.indexOf('\n\n') + 2).replaceAll(/^\d{3}[ A-Z*] ?/gm, '');
    const mail = await PostalMime.parse(`${headers.trimEnd()}\n\n${body.slice(body.indexOf('\n') + 1)}`);
    expect(mail.subject).to.match(/^Grüße [03]$/);
    expect(mail.text?.trim()).to.equal('नमस्ते');
    expect(mail.html).to.include('<p>नमस्ते</p>');
    expect(header).to.match(/eml_[03]@sms\.example\.com/);
  });

  it('wait where it lets nobody in, and where its certificate is of nobody that we trust', async () => {
    const before = (await queued()).length;
    const [wrong] = await send('wrong', ['asha@example.com']);
    const [untrusted] = await send('right', ['asha@example.com'], false);

    expect(wrong).to.include({ kind: 'trouble', words: '535 Incorrect authentication data' });
    expect(untrusted).to.have.property('kind', 'trouble');
    expect(untrusted).to.have.property('words').that.includes('certificate');
    expect((await queued()).length).to.equal(before);
  });
});

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
