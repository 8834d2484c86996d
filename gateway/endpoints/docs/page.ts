import { EVENTS } from '../../../shared/events/catalogue.ts';
import type { Contract } from '../../api/contract.ts';
import { FIELD_CODES, PROBLEMS, type ProblemRule } from '../../http/problem.ts';
import { CODE_GROUPS, type ExplainedCodes, RECEIPT_REASONS } from '../messages/explain/explain.ts';
import { CLIENTS_PAGE, GUIDES, guideHtml } from './guides.ts';
import { code, escapeHtml, link, paragraphs, prose } from './html.ts';
import { answerSamples, fieldLists, operationSection, operationsOf, type Placed } from './operation.ts';

/** Made by the build: the head with style and script (the page is readable without them), and the changelog. */
interface BuiltParts {
  readonly head: string;
  readonly changelog: string;
}

export function renderPage(contract: Contract, path: string, { head, changelog }: BuiltParts): string {
  const pages = pagesOf(contract);
  const prosePages = [
    ...LANGUAGE_PAGES,
    { path: CHANGELOG_PATH, title: 'Changelog', name: 'Changelog', html: changelog },
  ];
  const told = prosePages.find((one) => one.path === path);
  const page = pages.find((one) => one.path === path) ?? pages[0];
  const { title } = told ?? page;
  const brand = `<a class="brand" href="/docs">${MARK}${escapeHtml(contract.info.title)}</a>`;
  const contents = told === undefined ? operationGroups(contract, page) : '';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · ${escapeHtml(contract.info.title)}</title>
${head}</head>
<body><div class="frame docs"><a class="skip" href="#main">Skip to the page</a>
<header class="top">${brand}<button type="button" popovertarget="contents">Contents</button><a href="/dashboard">Dashboard</a></header>
<aside class="side" id="contents" popover><p class="side-head">${brand} <a class="small" href="/dashboard">Dashboard</a></p><nav class="navigation" aria-label="Contents">${searchBox()}${contents}${pageGroups(pages, prosePages, told ?? page)}</nav></aside>
<main id="main" tabindex="-1"><h1>${escapeHtml(title)}</h1>${told?.html ?? operationsHtml(contract, page, page === pages[0])}</main></div></body></html>
`;
}

function operationsHtml(contract: Contract, { intro, tags }: OperationsPage, isFirst: boolean): string {
  const sections = tags.map((tag) => tagSection(contract, tag));
  const own = isFirst ? `${eventSection(contract)}${errorSection(contract)}${errorCodeSection()}` : '';
  return `${isFirst ? QUICKSTART : ''}<div class="prose">${paragraphs(intro)}</div>${sections.join('')}${own}`;
}

const MARK =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M9 8v16M9 16.500c5-3.500 10-3.500 10 2V24"/><circle cx="22.500" cy="9.500" r="3"/></svg>';

/** The script inserts this page's address. The samples read address and key from the environment. */
const QUICKSTART = `<h2 id="quickstart">Quickstart</h2>
<div class="sample"><p class="sample-name"><span>In your shell</span></p><pre tabindex="0" role="group" aria-label="Quickstart"><code>export HARKARA_URL=<span id="origin">http://127.0.0.1:3000</span>
export HARKARA_KEY=hk_live_…
curl -X POST "$HARKARA_URL/v2/send" -H "Authorization: Bearer $HARKARA_KEY" -H 'Idempotency-Key: order-1234' \\
  -H 'Content-Type: application/json' -d '{"to":"919876543210","message":"Your order has left.","sender":"HARKRA"}'
curl "$HARKARA_URL/v2/status/MESSAGE_ID" -H "Authorization: Bearer $HARKARA_KEY"</code></pre></div>
<div class="prose"><p>A key is made on the <a href="/dashboard/keys">dashboard</a>; with a test key, <code>hk_test_…</code>, nothing leaves and nothing costs. With an <code>Idempotency-Key</code> the same request can be sent again after a lost answer: it is done once, and the second answer is that of the first; the next message needs another key. Of the samples on this page, those in Python need <code>pip install requests</code>.</p></div>`;

function tagSection(contract: Contract, tag: string): string {
  const described = contract.tags.find(({ name }) => name === tag)?.description ?? '';
  const operations = operationsOf(contract, tag).map((placed) => operationSection(contract, placed));
  return `<h2 id="${tagAnchor(tag)}">${escapeHtml(tag)}</h2><p>${prose(described)}</p>${operations.join('')}`;
}

function tagAnchor(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
}

/** The contents at the side. Entries that are `deep` show only in a search: there are too many errors for a list. */
function operationGroups(contract: Contract, current: OperationsPage): string {
  const groups = current.tags.map((tag) => {
    const items = operationsOf(contract, tag).map(({ method, operation }) =>
      item(
        `#${operation.operationId}`,
        `${escapeHtml(operation.summary)} <span class="method ${method}">${method.toUpperCase()}</span>`,
      ),
    );
    return group(tag, items);
  });
  const isFirst = current.path === pagesOf(contract)[0].path;
  return `${groups.join('')}${isFirst ? ownGroups(contract) : ''}`;
}

function pageGroups(
  pages: readonly OperationsPage[],
  prosePages: readonly ProsePage[],
  current: { readonly path: string },
): string {
  const named = [...pages.map(({ path, title }) => ({ path, name: title })), ...prosePages];
  const items = named.map(({ path, name }) => item(path, escapeHtml(name), path === current.path));
  return group('Pages', [...items, item('/openapi.json', 'OpenAPI 3.1'), item('/llms.txt', 'For language models')]);
}

/** Shown by the script, without which it does nothing. */
function searchBox(): string {
  return `<form class="search" role="search" hidden><label for="search" class="hidden">Search this page</label><input type="search" id="search" placeholder="Search" autocomplete="off"><p class="hidden" role="status"></p></form>`;
}

function ownGroups({ webhooks }: Contract): string {
  const events = Object.keys(webhooks).map((name) => item(`#${eventAnchor(name)}`, escapeHtml(name)));
  const deep = [
    ...Object.keys(PROBLEMS).map((slug) => item(`#problem-${slug}`, slug)),
    ...Object.keys(FIELD_CODES).map((name) => item(`#field-${name}`, name)),
    ...CODE_GROUPS.flatMap(({ codes }) => codes.map((entry) => item(`#${codeAnchor(entry)}`, entry.codes.join(', ')))),
  ].map((html) => html.replace('<li>', '<li class="deep">'));
  return `${group('Webhooks', [item('#webhooks', 'Webhooks'), ...events])}${group('Errors', [
    item('#problems', 'Errors'),
    item('#field-codes', 'Errors of fields'),
    item('#error-codes', 'Why messages fail'),
    ...deep,
  ])}`;
}

function group(title: string, items: readonly string[]): string {
  return `<div class="nav-group"><h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul></div>`;
}

function item(href: string, html: string, here = false): string {
  return `<li>${here ? link(href, html).replace('<a ', '<a aria-current="page" ') : link(href, html)}</li>`;
}

/** The catalogue of errors: what happened, what to do, and where it is answered. */
function errorSection(contract: Contract): string {
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

function eventSection(contract: Contract): string {
  const channels: Readonly<Record<string, { readonly channels: readonly string[] } | undefined>> = EVENTS;
  const events = Object.entries(contract.webhooks).map(([name, { post }]) => {
    const id = escapeHtml(eventAnchor(name));
    const body = post.requestBody.content?.['application/json'];
    const where = channels[name]?.channels.map(code).join(', ') ?? '';
    return `<section class="operation" id="${id}" aria-labelledby="${id}-name"><h3 id="${id}-name"><a href="#${id}">${escapeHtml(name)}</a></h3>
<div class="columns"><div class="told"><p>${prose(post.summary)}${where === '' ? '' : ` <span class="soft">Channel: ${where}</span>`}</p>
<h4>Payload <span class="soft">application/json</span></h4>${body === undefined ? '' : fieldLists(contract, body.schema)}</div>
<div class="samples">${answerSamples(body, 'Payload')}</div></div></section>`;
  });
  return `<h2 id="webhooks">Webhooks</h2><p>Each event is posted to your address as one JSON object, signed as Standard Webhooks says. ${prose('Answer 2xx within 15 seconds. `webhook-id` is the same on every attempt.')}</p>${events.join('')}`;
}

function eventAnchor(name: string): string {
  return `event-${name}`;
}

function errorCodeSection(): string {
  const groups = CODE_GROUPS.map(({ heading, codes }) => {
    const items = codes.map(
      (entry) =>
        `<div id="${codeAnchor(entry)}"><dt>${entry.codes.map(code).join(', ')}</dt><dd>${prose(entry.cause)} <span class="advice">${prose(entry.advice)}</span></dd></div>`,
    );
    return `<h3>${escapeHtml(heading)}</h3><dl class="catalogue">${items.join('')}</dl>`;
  });
  const reasons = RECEIPT_REASONS.map(
    ({ reason, advice }) => `<div><dt>${escapeHtml(reason)}</dt><dd>${prose(advice)}</dd></div>`,
  );
  return `<h2 id="error-codes">Why messages fail</h2><p>${prose('The `error_code` of a message that failed, expired or was rejected: what happened, and what to do.')}</p>${groups.join('')}
<h3>Receipts of carriers</h3><p>Each carrier numbers its errors in its own way. Go by <code>error_reason</code>.</p><dl class="catalogue">${reasons.join('')}</dl>`;
}

function codeAnchor({ codes: [first = ''] }: ExplainedCodes): string {
  return `code-${first}`;
}

/** A page below /docs with the operations of some tags. Tags that no page names are on the first. */
interface OperationsPage {
  readonly path: string;
  readonly title: string;
  readonly intro: string;
  readonly tags: readonly string[];
}

interface ProsePage {
  readonly path: string;
  readonly title: string;
  /** Its name in the contents. */
  readonly name: string;
  readonly html: string;
}

const ACCOUNT = {
  path: '/docs',
  title: 'HTTP API',
  intro: '',
};

const OTHERS: readonly OperationsPage[] = [
  {
    path: '/docs/operators',
    title: "Operators' API",
    intro:
      'For those who run Harkara: accounts, credits, approvals, carriers. Needs a key of operators with the scope that the endpoint names, which `ops operator-key create --scopes admin:read --name console --expires-at … --allow-ip …` makes, or an operator who is signed in. Keys of customers get 403.',
    tags: ['Operators'],
  },
  {
    path: '/docs/internal',
    title: 'Internal endpoints',
    intro:
      'For the machinery around Harkara: load balancers, supervisors, the chat-app provider. Customers need none of them. They need no key; do not publish more of them than the README of `docs/proxy` says.',
    tags: ['Running it'],
  },
];

export const CHANGELOG_PATH = '/docs/changelog';

export const LANGUAGE_PAGES: readonly ProsePage[] = [
  CLIENTS_PAGE,
  ...GUIDES.map((guide) => ({
    path: guide.path,
    title: `Begin with ${guide.language}`,
    name: guide.language,
    html: guideHtml(guide),
  })),
];

export const PATHS_BELOW: readonly string[] = [...OTHERS, ...LANGUAGE_PAGES, { path: CHANGELOG_PATH }].map(
  ({ path }) => path,
);

export function pagesOf({ info, tags }: Contract): readonly [OperationsPage, ...OperationsPage[]] {
  const elsewhere = OTHERS.flatMap((page) => page.tags);
  const here = tags.map(({ name }) => name).filter((name) => !elsewhere.includes(name));
  return [{ ...ACCOUNT, intro: info.description, tags: here }, ...OTHERS];
}
