import type { Request } from 'express';
import { sendProblem } from './answer.ts';
import type { Reply } from './context.ts';
import { FieldProblems, invalidRequest } from './fields.ts';
import { parseQuery } from './query.ts';

/** For lists that are always answered whole. False when there is a query; then the refusal has been answered. */
export function readNoQuery(req: Request, res: Reply): boolean {
  const problems = new FieldProblems();
  parseQuery(req, [], problems);
  if (problems.count > 0) sendProblem(res, ...invalidRequest(problems));
  return problems.count === 0;
}
