import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The used fields of a V8 CPU profile (`--cpu-prof`). */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

const SHOWN = 25;
const SHOWN_PLACES = 12;
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
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byFunction = new Map<string, number>();
  const byPlace = new Map<string, number>();
  let busyMs = 0;
  samples.forEach((id, i) => {
    const frame = frames.get(id);
    if (frame === undefined || frame.functionName === IDLE) return;
    const ms = (timeDeltas[i] ?? 0) / 1000;
    busyMs += ms;
    add(byFunction, `${frame.functionName || '(anonymous)'} ${placeOf(frame.url)}:${frame.lineNumber + 1}`, ms);
    add(byPlace, packageOf(placeOf(frame.url)), ms);
  });
  const lineOf = ([name, ms]: readonly [string, number]): string =>
    `  ${((ms / busyMs) * 100).toFixed(1).padStart(5)} %  ${name}`;
  return [
    `  ${busyMs.toFixed(0)} ms busy`,
    ...largest(byPlace, SHOWN_PLACES).map(lineOf),
    '',
    ...largest(byFunction, SHOWN).map(lineOf),
  ];
}

function add(sums: Map<string, number>, name: string, ms: number): void {
  sums.set(name, (sums.get(name) ?? 0) + ms);
}

function largest(sums: ReadonlyMap<string, number>, count: number): [string, number][] {
  return [...sums].sort(([, a], [, b]) => b - a).slice(0, count);
}

/** The path from the root or from node_modules on. V8's own functions have no url. */
function placeOf(url: string): string {
  return url === '' ? '(V8)' : url.replace(/^.*\/(node_modules|dist)\//, '').replace('file://', '');
}

/** The package, or our folder: `workers/smpp`, `shared/messages/document`. */
function packageOf(place: string): string {
  return /^(gateway|workers|shared|scripts)\//.test(place)
    ? place.split('/').slice(0, 2).join('/')
    : (place.split('/')[0] ?? place);
}
