import type { Request } from 'express';
import { sendProblem } from './answer.ts';
import type { Handler, Reply } from './context.ts';
import { FieldProblems, invalidRequest } from './fields.ts';
import { parseQuery } from './query.ts';

/** For requests that take no parameters. False when there is a query; then the refusal has been answered. */
export function readNoQuery(req: Request, res: Reply): boolean {
  if (!req.url.includes('?')) return true;
  const problems = new FieldProblems();
  parseQuery(req, [], problems);
  if (problems.count > 0) sendProblem(res, ...invalidRequest(problems));
  return problems.count === 0;
}

export const noQuery: Handler = (req, res: Reply, next) => {
  if (readNoQuery(req, res)) next();
};
