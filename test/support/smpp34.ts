import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianFile, debianProgram } from './debian.ts';

const execute = promisify(execFile);

/** A frame's reading by libsmpp34, a strict foreign codec. */
export interface Unpacked {
  readonly ok: boolean;
  /** If ok, its dump of the PDU, one field a line (empty above 500 octets); otherwise its reason. */
  readonly text: string;
}

const SOURCE = join(import.meta.dirname, 'smpp34-oracle.c');

/**
 * Unpacks every frame by libsmpp34, in order. It knows no TLV above 1,024 octets. Pass all frames at once, because the
 * program is compiled first (a tenth of a second).
 */
export async function unpackAll(frames: readonly Buffer[]): Promise<Unpacked[]> {
  const gcc = await debianProgram('gcc', 'gcc libc6-dev');
  await debianFile('/usr/include/libsmpp34/smpp34.h', 'libsmpp34-dev');
  const folder = await mkdtemp(join(tmpdir(), 'smpp34-'));
  try {
    const program = join(folder, 'oracle');
    await execute(gcc, ['-O1', '-w', '-o', program, SOURCE, '-lsmpp34']);
    const answers = parse(await ask(program, frames));
    if (answers.length === frames.length) return answers;
    throw new Error(`libsmpp34 answered ${answers.length} of ${frames.length} frames`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function ask(program: string, frames: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      output += text;
    });
    child.stdin.on('error', () => {}); // The program died early: its exit code is reported below.
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`libsmpp34 ended with ${signal ?? code} after ${parse(output).length} frames`));
    });
    for (const frame of frames) {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(frame.length);
      child.stdin.write(Buffer.concat([length, frame]));
    }
    child.stdin.end();
  });
}

function parse(output: string): Unpacked[] {
  return output
    .split('\n.\n')
    .slice(0, -1)
    .map((answer) => {
      const [verdict = '', ...rest] = answer.split('\n');
      return verdict === 'ok'
        ? { ok: true, text: rest.join('\n') }
        : { ok: false, text: verdict.replace(/^bad /, '').trim() };
    });
}
