import { CRASH_POINTS } from '../../shared/runtime/crash-point.ts';
import { type Command, defineCommand } from './command.ts';

/** The text of docs/crash-points.md: every place where a process may die between two effects. A test compares the file with it. */
export function crashPointsPage(): string {
  const rows = Object.entries(CRASH_POINTS).map(([name, what]) => [`\`${name}\``, what]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;
  return (
    '# Crash points\n\n' +
    'Places where a process may die between two effects, and what is true at that moment. `HARKARA_CRASH_AT=<name>` makes a\n' +
    'process kill itself there (`<name>#3`: the third time that it comes by). `test/flow/crash-points.test.ts` does it for each and\n' +
    'looks that nothing is lost, doubled or mischarged. Written by `npm run -s ops -- crash-points > docs/crash-points.md`.\n\n' +
    line(['name', 'when the process dies there']) +
    line(widths.map((width) => '-'.repeat(width))) +
    rows.map(line).join('')
  );
}

export const CRASH_POINTS_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'crash-points',
    verb: '',
    about: 'Writes the places where tests make a process die, the text of docs/crash-points.md.',
    args: {},
    options: {},
    run: async () => ({ text: crashPointsPage().trimEnd(), json: CRASH_POINTS }),
  }),
];
