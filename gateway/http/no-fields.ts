import { sendProblem } from './answer.ts';
import { bodyOf, type Handler, type Reply } from './context.ts';
import { FieldProblems, invalidRequest, refuseUnknown } from './field-problems.ts';
import { readNoQuery } from './no-query.ts';

/** For a POST without fields: it may have no body, or an empty object. What else it says is refused, not passed over. */
export function createNoFields(parse: Handler): Handler {
  return (req, res: Reply, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': chunked } = req.headers;
    if (Number(length) === 0 && chunked === undefined) {
      res.locals.body = {};
      if (readNoQuery(req, res)) next();
      return;
    }
    return parse(req, res, (error?: unknown) => {
      if (error !== undefined) return next(error);
      const problems = new FieldProblems();
      refuseUnknown(bodyOf(res), [], problems);
      if (problems.count > 0) sendProblem(res, ...invalidRequest(problems));
      else next();
    });
  };
}
