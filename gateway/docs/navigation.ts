import { FIELD_CODES } from '../http/field-codes.ts';
import { PROBLEMS } from '../http/problem.ts';
import { CODE_GROUPS } from '../messages/explain/explain.ts';
import type { Contract } from './contract.ts';
import { codeAnchor } from './error-codes.ts';
import { eventAnchor } from './event-section.ts';
import { escapeHtml, link } from './html.ts';
import { type DocsPage, operationsOf, pagesOf } from './pages.ts';

/** The contents at the side. What is `deep` shows only in a search: there are too many errors for a list. */
export function navigation(contract: Contract, current: DocsPage): string {
  const pages = pagesOf(contract);
  const groups = current.tags.map((tag) => {
    const items = operationsOf(contract, tag).map(({ method, operation }) =>
      item(
        `#${operation.operationId}`,
        `${escapeHtml(operation.summary)} <span class="method ${method}">${method.toUpperCase()}</span>`,
      ),
    );
    return group(tag, items);
  });
  return `${searchBox()}${groups.join('')}${current.path === pages[0].path ? ownGroups(contract) : ''}${group('More', [
    ...pages.map((page) => item(page.path, escapeHtml(page.title), page.path === current.path)),
    item('/openapi.json', 'OpenAPI 3.1'),
  ])}`;
}

/** The script shows it: without one it would do nothing. */
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
