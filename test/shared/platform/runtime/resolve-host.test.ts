import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from '@node-rs/argon2';

import { createHostResolver } from '../../../../shared/platform/runtime/resolve-host.ts';

const TYPE_A = 1;
const TTL_OFFSET = 6;

describe('names that tenants give', () => {
  let server: Socket;
  let directory: string;
  let hostsFile: string;
  /** Requested names, once for each record type. */
  let asked: string[] = [];
  before(async () => {
    server = createSocket('udp4', (query, { port }) => {
      const name = nameIn(query);
      asked.push(name);
      const answer = answerTo(query, name);
      if (answer !== undefined) server.send(answer, port, '127.0.0.1');
    });
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    directory = mkdtempSync(join(tmpdir(), 'harkara-hosts-'));
    hostsFile = join(directory, 'hosts');
    writeFileSync(
      hostsFile,
      '# ours\n10.1.0.7\tInside.example  inside # the second name\n\nfd00::7 inside.example\nx y\n',
    );
  });
  after(() => {
    server.close();
    rmSync(directory, { recursive: true });
  });
  beforeEach(() => {
    asked = [];
  });

  const resolver = () => createHostResolver({ servers: [`127.0.0.1:${server.address().port}`], hostsFile });

  it('are not asked of the system’s resolver, also those that DNS does not have', async () => {
    const resolve = resolver();
    const pending = resolve('none.example').catch((error: NodeJS.ErrnoException) => error.code);
    const seen = new Set<string>();
    const look = setInterval(() => {
      for (const one of process.getActiveResourcesInfo()) seen.add(one);
    }, 1);

    expect(await pending).to.equal('ENOTFOUND');
    clearInterval(look);
    expect([...seen].filter((one) => /GetAddrInfo/.test(one))).to.deep.equal([]);
  });

  it('that nobody answers for hold up neither another name nor a password hash', async () => {
    const resolve = resolver();
    let ended = 0;
    const slow = Array.from({ length: 40 }, (_, i) => resolve(`black-hole-${i}.example`).catch(() => ended++));

    expect(await resolve('good.example')).to.deep.equal(['192.0.2.7']);
    expect(await hash('a good password')).to.be.a('string');
    expect(ended).to.equal(0);
    await Promise.all(slow);
  }).timeout(30_000);

  it('are asked for once by all who ask at the same time, and again when the answer has ended', async () => {
    const resolve = resolver();

    const answers = await Promise.all([resolve('good.example'), resolve('GOOD.example.'), resolve('good.example')]);
    await resolve('good.example');
    expect(answers).to.deep.equal([['192.0.2.7'], ['192.0.2.7'], ['192.0.2.7']]);
    expect(asked).to.deep.equal(['good.example', 'good.example']);
    await resolve('brief.example');
    await resolve('brief.example');
    expect(asked.filter((name) => name === 'brief.example')).to.have.length(4);
  });

  it('of the hosts file have its addresses', async () => {
    const resolve = resolver();

    expect(await resolve('inside.EXAMPLE.')).to.deep.equal(['10.1.0.7', 'fd00::7']);
    expect(await resolve('inside')).to.deep.equal(['10.1.0.7']);
    expect(await resolve('localhost')).to.deep.equal(['127.0.0.1', '::1']);
    expect(asked).to.deep.equal([]);
  });
});

/** The labels after the header (RFC 1035 §4.1.2). */
function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; (query[at] ?? 0) > 0; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

function answerTo(query: Buffer, name: string): Buffer | undefined {
  if (name.startsWith('black-hole')) return undefined;
  const end = 12 + name.length + 2 + 4;
  const question = query.subarray(12, end);
  const header = Buffer.from(query.subarray(0, 12));
  const exists = name !== 'none.example';
  header.writeUInt16BE(exists ? 0x8180 : 0x8183, 2);
  const isA = question.readUInt16BE(question.length - 4) === TYPE_A;
  header.writeUInt16BE(exists && isA ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  if (!exists || !isA) return Buffer.concat([header, question]);
  const record = Buffer.from('c00c000100010000003c0004c0000207', 'hex');
  record.writeUInt32BE(name === 'brief.example' ? 0 : 60, TTL_OFFSET);
  return Buffer.concat([header, question, record]);
}
