import type { Contract } from './contract.ts';
import { errorCodeSection } from './error-codes.ts';
import { errorSection } from './error-section.ts';
import { eventSection } from './event-section.ts';
import { escapeHtml, paragraphs, prose } from './html.ts';
import { navigation } from './navigation.ts';
import { operationSection } from './operation.ts';
import { operationsOf, pagesOf } from './pages.ts';

/** Renders one page of the contract for people. Pure. `head` has its style and its script: it can be read without either. */
export function renderPage(contract: Contract, path: string, head: string): string {
  const pages = pagesOf(contract);
  const page = pages.find((one) => one.path === path) ?? pages[0];
  const sections = page.tags.map((tag) => tagSection(contract, tag));
  const own = page === pages[0] ? `${eventSection(contract)}${errorSection(contract)}${errorCodeSection()}` : '';
  const brand = `<a class="brand" href="/docs">${MARK}${escapeHtml(contract.info.title)}</a>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · ${escapeHtml(contract.info.title)}</title>
${head}</head>
<body><div class="frame docs"><a class="skip" href="#main">Skip to the page</a>
<header class="top">${brand}<button type="button" popovertarget="contents">Contents</button><a href="/dashboard">Dashboard</a></header>
<aside class="side" id="contents" popover><p class="side-head">${brand} <a class="small" href="/dashboard">Dashboard</a></p><nav class="navigation" aria-label="Contents">${navigation(contract, page)}</nav></aside>
<main id="main" tabindex="-1"><h1>${escapeHtml(page.title)}</h1><div class="prose">${paragraphs(page.intro)}</div>${page === pages[0] ? FIRST_STEPS : ''}${sections.join('')}${own}</main></div></body></html>
`;
}

/** The dashboard's mark (client/frame/frame.tsx). */
const MARK =
  '<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M9 8v16M9 16.500c5-3.500 10-3.500 10 2V24"/><circle cx="22.500" cy="9.500" r="3"/></svg>';

/** What the samples take from the environment. The script puts in the address of this page. */
const FIRST_STEPS = `<h2 id="samples">Samples</h2><p>The samples take the address and the key from the environment. Set them once; Python needs <code>pip install requests</code>.</p>
<div class="sample"><p class="sample-name"><span>Once in your shell</span></p><pre tabindex="0" role="group" aria-label="Once in your shell"><code>export HARKARA_URL=<span id="origin">http://127.0.0.1:3000</span>
export HARKARA_KEY=hk_live_…</code></pre></div>`;

function tagSection(contract: Contract, tag: string): string {
  const described = contract.tags.find(({ name }) => name === tag)?.description ?? '';
  const operations = operationsOf(contract, tag).map((placed) => operationSection(contract, placed));
  return `<h2 id="${tagAnchor(tag)}">${escapeHtml(tag)}</h2><p>${prose(described)}</p>${operations.join('')}`;
}

function tagAnchor(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
}
