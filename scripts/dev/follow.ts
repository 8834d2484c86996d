import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** How often the file is read; often enough for a person. */
const LOOK_MS = 200;
const CHUNK_BYTES = 65_536;

/** Reports the lines that are appended to a file from now on. Returns a function that stops it. */
export function followLines(file: string, onLine: (line: string) => void): () => void {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let position = size(file);
  let rest = Buffer.alloc(0);
  const look = (): void => {
    if (size(file) <= position) return;
    const descriptor = openSync(file, 'r');
    try {
      for (;;) {
        const count = readSync(descriptor, buffer, 0, CHUNK_BYTES, position);
        if (count === 0) break;
        position += count;
        rest = Buffer.concat([rest, buffer.subarray(0, count)]);
        // Whole lines only: a chunk may end inside a character.
        const end = rest.lastIndexOf(10);
        if (end === -1) continue;
        for (const line of rest.subarray(0, end).toString('utf8').split('\n')) onLine(line);
        rest = rest.subarray(end + 1);
      }
    } finally {
      closeSync(descriptor);
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}

function size(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
