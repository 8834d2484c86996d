import { FIELD_CODES } from '../http/field-codes.ts';
import { PROBLEMS } from '../http/problem.ts';
import type { ProblemRule } from '../http/problem-rule.ts';
import type { Contract } from './contract.ts';
import { fieldLists } from './field-list.ts';
import { code, escapeHtml, link, prose } from './html.ts';
import { answerSamples } from './operation.ts';
import { operationsOf, type Placed, pagesOf } from './pages.ts';

/** The catalogue of errors: what happened, what to do, and where it is answered. */
export function errorSection(contract: Contract): string {
  const shape = contract.components.responses.Problem?.content?.['application/problem+json'];
  const rules: [string, ProblemRule][] = Object.entries(PROBLEMS);
  const all = pagesOf(contract).flatMap(({ path, tags }) =>
    tags.flatMap((tag) => operationsOf(contract, tag).map((placed) => ({ ...placed, page: path }))),
  );
  const fields = Object.entries(FIELD_CODES).map(
    ([name, meaning]) => `<div id="field-${name}"><dt>${code(name)}</dt><dd>${prose(meaning)}</dd></div>`,
  );
  return `<h2 id="problems">Errors</h2>
<section class="operation" aria-labelledby="problems"><div class="columns"><div class="told"><p>${prose('Every answer that is not a success has this body. `type` leads to the entry below; `code` is what a program should look at; `request_id` is what your service provider asks for.')}</p>
${shape === undefined ? '' : fieldLists(contract, shape.schema)}</div><div class="samples">${answerSamples(shape, 'Error')}</div></div></section>
<dl class="catalogue">${rules.map(([slug, rule]) => problemItem(slug, rule, all)).join('')}</dl>
<h2 id="field-codes">Errors of fields</h2><p>${prose('Entries of `errors` say which field is wrong and how to correct it. `code` is one of these.')}</p><dl class="catalogue">${fields.join('')}</dl>`;
}

interface OnPage extends Placed {
  readonly page: string;
}

/** More than these are as good as all. */
const NAMED_MAX = 8;

function problemItem(slug: string, { status, number, title, advice, retryable }: ProblemRule, all: readonly OnPage[]) {
  const here = all.filter(({ operation }) => operation['x-problems'].includes(slug));
  const links = here.map(({ page, operation }) =>
    link(`${page}#${operation.operationId}`, escapeHtml(operation.summary)),
  );
  const where =
    here.length === 0 || here.length > NAMED_MAX ? '' : `<dd class="where">Answered by: ${links.join(', ')}</dd>`;
  const again = retryable ? 'send it again unchanged' : 'the same request fails again';
  return `<div id="problem-${slug}"><dt><a href="#problem-${slug}">${code(slug)}</a> <span class="soft">HTTP ${status}, <code>status_code</code> ${number}, ${again}</span></dt><dd><strong>${escapeHtml(title)}.</strong> ${prose(advice)}</dd>${where}</div>`;
}
