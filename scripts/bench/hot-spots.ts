import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What of a V8 CPU profile (`--cpu-prof`) is used here. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds between a sample and the one before. */
  readonly timeDeltas: readonly number[];
}

const SHOWN = 25;
/** Not work: waiting for events. */
const IDLE = '(idle)';

/** The functions that used most CPU themselves, for each profile in a folder. */
export function hotSpots(folder: string): string {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) => {
      // Written by V8 itself.
      const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
      return `${file}\n${topFunctions(profile).join('\n')}`;
    })
    .join('\n\n');
}

function topFunctions({ nodes, samples, timeDeltas }: Profile): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const selfMs = new Map<string, number>();
  let busyMs = 0;
  samples.forEach((id, i) => {
    const name = names.get(id) ?? IDLE;
    if (name === IDLE) return;
    const ms = (timeDeltas[i] ?? 0) / 1000;
    busyMs += ms;
    selfMs.set(name, (selfMs.get(name) ?? 0) + ms);
  });
  const top = [...selfMs].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  return [
    `  ${busyMs.toFixed(0)} ms busy`,
    ...top.map(([name, ms]) => `  ${((ms / busyMs) * 100).toFixed(1).padStart(5)} %  ${name}`),
  ];
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName;
  const place = url.replace(/^.*\/(node_modules|dist)\//, '').replace('file://', '');
  return `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`;
}
