import type { Contract, Operation } from '../../api/contract.ts';
import { CLIENTS_PAGE } from './clients-page.ts';
import { GUIDES, guideHtml } from './guides.ts';

/** The pages below /docs that have operations, those of some tags; a tag that no page names is on the first one. */
export interface OperationsPage {
  readonly path: string;
  readonly title: string;
  readonly intro: string;
  readonly tags: readonly string[];
}

/** A page of prose. */
export interface ProsePage {
  readonly path: string;
  readonly title: string;
  /** How the contents call it. */
  readonly name: string;
  /** Below its title. */
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

/** A page about the clients, and one for each language. */
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

/** An operation with its place in the document. */
export interface Placed {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function operationsOf({ paths }: Contract, tag: string): Placed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}
