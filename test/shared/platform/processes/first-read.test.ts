import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { builtProduct } from '../../../support/built.ts';
import { openScriptedMongo, type ScriptedAnswer } from '../../../support/scripted-mongo.ts';

/** What a process says that starts on a server with this answer to each command but hello. */
async function said(answer: ScriptedAnswer): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'harkara-first-read-'));
  const server = await openScriptedMongo({ answer: () => answer });
  const child = spawn(process.execPath, [join(await builtProduct(), 'workers', 'background', 'main.js')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HARKARA_MONGODB_URI: server.uri, HARKARA_DATA_DIR: folder, HARKARA_LOG_LEVEL: 'silent' },
  });
  try {
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect(code).to.equal(1);
    return err.trim().split('\n');
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a start whose first read fails', () => {
  it('says in one sentence that the user may read nothing', async () => {
    expect(await said({ ok: 0, code: 13, errmsg: 'command find requires authentication' })).to.deep.equal([
      'The server behind HARKARA_MONGODB_URI lets its user read nothing (command find requires authentication): name a user with a password in it, who has the role readWrite on the database.',
    ]);
  });

  it('says in one sentence what nobody knows', async () => {
    expect(await said({ ok: 0, code: 50_463_173, errmsg: 'unexpected' })).to.deep.equal([
      'HARKARA_MONGODB_URI does not answer as MongoDB: unexpected',
    ]);
  });
});
