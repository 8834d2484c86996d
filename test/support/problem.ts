import { PROBLEMS, type ProblemSlug } from '../../gateway/http/problem.ts';

/** Fails unless an answer has the form of every error answer. */
export function expectProblem(
  answer: { readonly status: number; readonly headers: unknown; readonly body: unknown },
  slug: ProblemSlug,
): void {
  const rule = PROBLEMS[slug];
  expect(answer.body).to.include({
    code: slug,
    type: `/errors/${slug}`,
    title: rule.title,
    status: rule.status,
    status_code: rule.number,
    retryable: rule.retryable,
  });
  expect(answer.status).to.equal(rule.status);
  expect(answer.headers)
    .to.have.property('content-type')
    .that.matches(/^application\/problem\+json/);
  expect(answer.body).to.have.property('detail').that.is.a('string').and.not.empty;
  expect(answer.body).to.have.property('errors').that.is.an('array');
  expect(answer.headers).to.have.property('x-request-id').that.is.not.empty;
  expect(answer.body).to.have.property('request_id', Reflect.get(Object(answer.headers), 'x-request-id'));
}

/** Fails unless an answer is this refusal and names exactly this field. */
export function expectFieldRefusal(
  answer: { readonly status: number; readonly headers: unknown; readonly body: unknown },
  slug: ProblemSlug,
  field: string,
): void {
  expectProblem(answer, slug);
  const { detail, errors } = Object(answer.body);
  expect(errors).to.deep.equal([{ field, code: slug, detail }]);
}
