import type { Request } from 'express';
import { type ProblemAnswer, sendProblem } from './answer.ts';
import type { Handler, Reply } from './context.ts';
import { type FieldProblem, PROBLEMS, type ProblemSlug } from './problem.ts';

/** How much of an unknown name is repeated. */
const SHOWN_NAME_MAX = 64;
/** The most problems that an answer lists; further ones are only counted. */
const LISTED_MAX = 100;

export class FieldProblems {
  readonly listed: FieldProblem[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get full(): boolean {
    return this.listed.length >= LISTED_MAX;
  }

  /** Returns undefined, the value of a field with a problem. */
  add(field: string, code: FieldProblem['code'], detail: string): undefined {
    this.#count++;
    if (!this.full) this.listed.push({ field, code, detail });
    return undefined;
  }
}

export function invalidRequest({ listed, count }: FieldProblems): readonly [ProblemSlug, ProblemAnswer] {
  const [only] = listed;
  const detail =
    count === 1 && only !== undefined
      ? `${only.field}: ${only.detail}`
      : count > listed.length
        ? `There are ${count} problems. \`errors\` lists the first ${listed.length}.`
        : `There are ${count} problems. \`errors\` lists them.`;
  return ['invalid_request', { detail, errors: listed, extra: { errors_count: count } }];
}

export function fieldRefusal(
  slug: ProblemSlug & FieldProblem['code'],
  field: string,
  detail: string = PROBLEMS[slug].advice,
): readonly [ProblemSlug, ProblemAnswer] {
  return [slug, { detail, errors: [{ field, code: slug, detail }] }];
}

/** Reports every unknown field, with the name that was perhaps meant: a request with a typo must not be sent. */
export function refuseUnknown(
  names: Iterable<string>,
  known: readonly string[],
  problems: FieldProblems,
  /** Prefix of the names in this object: `recipients[3].`. */
  place = '',
): void {
  for (const field of names) {
    if (known.includes(field)) continue;
    if (problems.full) {
      problems.add(place, 'unknown_field', '');
      continue;
    }
    const shown = field.slice(0, SHOWN_NAME_MAX);
    const meant = nearest(shown, known);
    const fields = known.length === 0 ? 'It takes none.' : `The fields are ${known.join(', ')}.`;
    const hint = meant === undefined ? fields : `Did you mean "${meant}"?`;
    problems.add(place + shown, 'unknown_field', `There is no such field. ${hint}`);
  }
}

export function wrongType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The known name that differs by at most two edits and half of its length. */
function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestEdits = 3;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestEdits) continue;
    const edits = editDistance(name.toLowerCase(), candidate);
    if (edits < bestEdits && edits * 2 <= candidate.length) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const NO_PARAMETERS = 'There is no such parameter. This request takes none.';
const IN_THE_BODY = 'The address takes no parameters. What the request says belongs into its JSON body.';

/** False when there is a query; the refusal was answered then. */
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
