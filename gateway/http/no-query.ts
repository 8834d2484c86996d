import type { Request } from 'express';
import { sendProblem } from './answer.ts';
import type { Handler, Reply } from './context.ts';
import { FieldProblems, invalidRequest, SHOWN_NAME_MAX } from './field-problems.ts';

const NO_PARAMETERS = 'There is no such parameter. This request takes none.';
const IN_THE_BODY = 'The address takes no parameters. What the request says belongs into its JSON body.';

/** For requests that take no parameters. False when there is a query; then the refusal has been answered. */
export function readNoQuery(req: Request, res: Reply): boolean {
  const start = req.url.indexOf('?');
  if (start === -1) return true;
  const problems = new FieldProblems();
  const detail = ['GET', 'HEAD', 'DELETE'].includes(req.method) ? NO_PARAMETERS : IN_THE_BODY;
  for (const name of new Set(new URLSearchParams(req.url.slice(start)).keys())) {
    problems.add(name.slice(0, SHOWN_NAME_MAX), 'unknown_field', detail);
  }
  if (problems.count > 0) sendProblem(res, ...invalidRequest(problems));
  return problems.count === 0;
}

export const noQuery: Handler = (req, res: Reply, next) => {
  if (readNoQuery(req, res)) next();
};
