import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { routes } from '../../../../../endpoints/routing/routes.ts';
/** As `GET /v2/admin/routes` shows it. */
export type Route = AnswerOf<typeof routes>['routes'][number];

/** A line for each group: `airtel:70, jio:30`. */
export function groupLines(groups: Route['groups']): string {
  return groups.map((group) => group.map(({ carrier, weight }) => `${carrier}:${weight}`).join(', ')).join('\n');
}

export function groupsOf(lines: readonly string[]): { carrier: string; weight: number }[][] {
  return lines.map((line) =>
    line.split(',').map((one) => {
      const [carrier = '', weight = '1'] = one.split(':').map((part) => part.trim());
      return { carrier, weight: Number(weight) };
    }),
  );
}

/** The conditions that the form asks for, with their words. Others are changed by `ops route`. */
export const CONDITIONS = [
  ['countries', 'Countries', 'Two letters, with commas: IN, AE'],
  ['prefixes', 'Prefixes', 'First digits, country code first: 9198'],
  ['senders', 'Senders', 'HARKRA, HRKOTP'],
] as const;

export function several(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
