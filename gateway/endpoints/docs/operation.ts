import type { Contract, MediaType, Operation } from '../../api/contract.ts';
import { PROBLEMS, type ProblemRule } from '../../http/problem.ts';
import { fieldItem, fieldLists, parameterOf, responseOf } from './field-list.ts';
import { code, codeBlock, escapeHtml, link, prose } from './html.ts';
import type { Placed } from './pages.ts';
import { LANGUAGES, type Sample } from './samples.ts';

/** One operation: what it takes and answers on one side, samples on the other. */
export function operationSection(contract: Contract, placed: Placed): string {
  const { method, path, operation } = placed;
  const { operationId, summary, description, requestBody } = operation;
  const id = escapeHtml(operationId);
  const answer = bodiesOf(contract, operation)[0];
  const request = Object.entries(requestBody?.content ?? {})[0];
  return `<section class="operation" id="${id}" aria-labelledby="${id}-name">
<h3 id="${id}-name"><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> ${code(path)}</p>
<div class="columns"><div class="told">
${description === undefined ? '' : `<p>${prose(description)}</p>`}${scopePart(operation)}${parameterPart(contract, operation)}${bodyPart(contract, 'Request', request)}${bodyPart(contract, 'Answer 200', answer)}${problemPart(operation)}
</div><div class="samples">
${requestSamples(contract, placed)}${answerSamples(answer?.[1], 'Answer 200')}
</div></div></section>`;
}

function scopePart({ 'x-scope': scope, 'x-confirmed': confirmed, 'x-call': call }: Operation): string {
  if (scope === undefined) return '';
  if (!needsPermission(scope))
    return `<p class="scope">Needs no key but ${escapeHtml(scope.slice(NO_PERMISSION.length))}.</p>`;
  const who = scope === 'owner' ? 'Only for owners who are signed in.' : `Scope: <strong>${escapeHtml(scope)}</strong>`;
  const again = confirmed ? ' In a session, the password must have been shown within the last 10 minutes.' : '';
  const called = call === undefined ? '' : ` · <a href="/docs/clients">in the clients</a> ${code(call)}`;
  return `<p class="scope">${who}${again}${called}</p>`;
}

/** `none: name and password`: what is needed instead. */
const NO_PERMISSION = 'none: ';

function needsPermission(scope: string | undefined): boolean {
  return scope !== undefined && !scope.startsWith(NO_PERMISSION);
}

function parameterPart(contract: Contract, { parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const items = parameters.map((given) => {
    const { name, in: place, description, required, schema } = parameterOf(contract, given);
    return fieldItem(name, { ...schema, description }, required === true, place);
  });
  return `<h4>Parameters</h4><dl class="fields">${items.join('')}</dl>`;
}

type NamedBody = readonly [mediaType: string, body: MediaType];

function bodiesOf(contract: Contract, { responses }: Operation): NamedBody[] {
  const { '200': success } = responses;
  return success === undefined ? [] : Object.entries(responseOf(contract, success).content ?? {});
}

function bodyPart(contract: Contract, title: string, body: NamedBody | undefined): string {
  if (body === undefined) return '';
  const [mediaType, { schema }] = body;
  return `<h4>${title} <span class="soft">${escapeHtml(mediaType)}</span></h4>${fieldLists(contract, schema)}`;
}

/** Every answer that is not a success, by its status. */
function problemPart({ 'x-problems': slugs }: Operation): string {
  if (slugs.length === 0) return '';
  const rules: Readonly<Record<string, ProblemRule>> = PROBLEMS;
  const statuses = [...new Set(slugs.map((slug) => rules[slug]?.status ?? 500))].sort((a, b) => a - b);
  const rows = statuses.map((status) => {
    const links = slugs
      .filter((slug) => rules[slug]?.status === status)
      .map((slug) => link(`/docs#problem-${slug}`, code(slug)));
    return `<div><dt>${status}</dt><dd>${links.join(', ')}</dd></div>`;
  });
  return `<h4>Other answers <span class="soft">application/problem+json</span></h4><dl class="statuses">${rows.join('')}</dl>`;
}

function requestSamples(contract: Contract, placed: Placed): string {
  const examples = Object.values(placed.operation.requestBody?.content ?? {})[0]?.examples ?? {};
  const bodies = Object.entries(examples);
  const mayTry = placed.operation['x-test'] === true;
  if (bodies.length === 0) return sampleBlock(sampleOf(contract, placed), 'Request', mayTry);
  return bodies
    .map(([name, { value }]) => sampleBlock({ ...sampleOf(contract, placed), body: value }, `Request: ${name}`, mayTry))
    .join('');
}

const ANSWERS: Readonly<Record<string, Sample['answers']>> = {
  'application/json': 'json',
  'application/octet-stream': 'file',
};

/** The request of an operation, with the examples of its parameters in the path. */
function sampleOf(contract: Contract, { method, path, operation }: Placed): Sample {
  const parameters = (operation.parameters ?? []).map((given) => parameterOf(contract, given));
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (name, wanted) => parameters.find((one) => one.name === wanted)?.example ?? name,
  );
  const query = parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map(({ name, example = '' }) => `${name}=${encodeURIComponent(example)}`);
  return {
    method,
    path: query.length === 0 ? filled : `${filled}?${query.join('&')}`,
    key: needsPermission(operation['x-scope']),
    answers: ANSWERS[bodiesOf(contract, operation)[0]?.[0] ?? ''] ?? 'text',
  };
}

/**
 * The first language is shown, the others are behind their names. A script makes a choice of them, and of what a test key may do a form
 * (client/docs/try.ts).
 */
function sampleBlock(sample: Sample, title: string, mayTry: boolean): string {
  const shown = Object.entries(LANGUAGES).map(([language, print], index) => {
    const block = codeBlock(print(sample), `${title}, ${language}`);
    return `<details data-language="${language}"${index === 0 ? ' open' : ''}><summary>${language}</summary>${block}</details>`;
  });
  const { method, path, body } = sample;
  const content = body === undefined ? '' : ` data-body="${escapeHtml(JSON.stringify(body, null, 2))}"`;
  const request = mayTry ? ` data-method="${method.toUpperCase()}" data-path="${escapeHtml(path)}"${content}` : '';
  return `<div class="sample"${request}><p class="sample-name"><span>${escapeHtml(title)}</span></p>${shown.join('')}</div>`;
}

/** Also shows the payloads of webhooks. */
export function answerSamples(body: MediaType | undefined, title: string): string {
  return Object.entries(body?.examples ?? {})
    .map(([name, { value }]) => {
      const label = `${title}: ${name}`;
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return `<div class="sample"><p class="sample-name"><span>${escapeHtml(label)}</span></p>${codeBlock(text, label)}</div>`;
    })
    .join('');
}
