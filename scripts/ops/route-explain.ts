import type { Explanation } from '../../shared/carriers/routing/explain.ts';
import type { Answer } from './command.ts';

export function explained({ kind, route, path, carriers, others, verdict, by }: Explanation): Answer {
  if (kind === 'refused') return { text: verdict, json: { carrier: null, why: by, route: route?._id ?? null } };
  const lines = [
    verdict,
    by,
    ...carriers.map(
      ({ carrier, state, takes }, at) => `  ${at + 1}. ${carrier}: ${state}${takes ? ' ← takes it' : ''}`,
    ),
    ...(others.length === 0 ? [] : [`Also matching, but less: ${others.join(', ')}.`]),
  ];
  const carrier = carriers.find(({ takes }) => takes)?.carrier ?? null;
  return { text: lines.join('\n'), json: { carrier, route: route?._id ?? null, path, carriers, others } };
}
