import type { ProblemAnswer } from '../../http/answer.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { PROBLEMS, type ProblemSlug } from '../../http/problem.ts';

/**
 * The refusal of recipients that no carrier will ever take. `fields` says where they are in the request. If a carrier exists but
 * is down, this does not apply: its messages wait.
 */
export function noRoute(fields: readonly string[]): readonly [ProblemSlug, ProblemAnswer] {
  const problems = new FieldProblems();
  for (const field of fields) problems.add(field, 'no_route', PROBLEMS.no_route.advice);
  const { listed, count } = problems;
  const many = `No carrier delivers to ${count} of the recipients. Leave them out: \`errors\` lists ${count > listed.length ? `the first ${listed.length}` : 'them'}.`;
  const detail = count === 1 ? `${fields[0]}: ${PROBLEMS.no_route.advice}` : many;
  return ['no_route', { detail, errors: listed, extra: { errors_count: count } }];
}
