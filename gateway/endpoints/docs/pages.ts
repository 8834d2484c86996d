import type { Contract, Operation } from '../../api/contract.ts';

/** The pages below /docs. Each has the operations of some tags; a tag that no page names is on the first one. */
export interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly intro: string;
  readonly tags: readonly string[];
}

const ACCOUNT = {
  path: '/docs',
  title: 'HTTP API',
  intro: '',
};

const OTHERS: readonly DocsPage[] = [
  {
    path: '/docs/operators',
    title: "Operators' API",
    intro:
      'For those who run Harkara: accounts, credits, approvals, carriers. Needs a key of operators with the scope that the endpoint names, which `ops key create --scopes admin:read --name console --expires-at … --allow-ip …` makes, or an operator who is signed in. Keys of customers get 403.',
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

export const PATHS_BELOW: readonly string[] = OTHERS.map(({ path }) => path);

export function pagesOf({ info, tags }: Contract): readonly [DocsPage, ...DocsPage[]] {
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
