import { readFile } from 'node:fs/promises';
import { Failure } from './command.ts';

/** What is in a file that a command names. Throws a `Failure` that says why it cannot be read. */
export async function readOctets(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
