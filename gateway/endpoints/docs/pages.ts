import type { Contract, Operation } from '../../api/contract.ts';
import { GUIDES, guideHtml } from './guides.ts';
import { codeBlock } from './html.ts';

/** What the clients of scripts/clients are like. A test runs both programs (test/peers/clients/clients.test.ts). */
const CLIENTS_PAGE = {
  path: '/docs/clients',
  title: 'Clients for TypeScript and Python',
  name: 'Clients',
  html: `<div class="prose"><p>For TypeScript and Python there is a client with a call for each endpoint, named there (in Python <code>sendBulk</code> is <code>send_bulk</code>); ask your service provider for the package. It sends again what may be sent again, with the same <code>Idempotency-Key</code>, walks through lists page by page, throws problems with their <code>code</code> and <code>errors</code>, and verifies webhooks. A third package, <code>harkara-mcp</code>, gives agents the account over the Model Context Protocol: read-only, or what a person agrees to.</p></div>
${clientSample(
  'npm install ./harkara-*.tgz',
  `import { env } from 'node:process';
import { Harkara, verifyWebhook } from 'harkara';

const harkara = new Harkara({ url: env.HARKARA_URL ?? '', key: env.HARKARA_KEY ?? '' });
const sent = await harkara.sms.send({ to: '919876543210', message: 'Your order has left.', sender: 'HARKRA' });
for await (const message of harkara.messages.list({ to: sent.to })) {
  console.log(message.message_id, message.status);
}

async function received(body: string, headers: Headers): Promise<void> {
  const event = await verifyWebhook(body, headers, env.HARKARA_WEBHOOK_SECRET ?? '');
  if (event.event === 'message.delivered') console.log(event.message_id, event.delivered_at);
}`,
)}
${clientSample(
  'pip install ./harkara-*.whl',
  `import os
from harkara import Harkara, verify_webhook

harkara = Harkara(url=os.environ["HARKARA_URL"], key=os.environ["HARKARA_KEY"])
sent = harkara.sms.send(to="919876543210", message="Your order has left.", sender="HARKRA")
for message in harkara.messages.list(to=sent["to"]):
    print(message["message_id"], message["status"])


def received(body: bytes, headers: dict[str, str]) -> None:
    event = verify_webhook(body, headers, os.environ["HARKARA_WEBHOOK_SECRET"])
    if event["event"] == "message.delivered":
        print(event["message_id"], event["delivered_at"])`,
)}`,
};

function clientSample(install: string, program: string): string {
  return `<div class="sample"><p class="sample-name"><span>${install}</span></p>${codeBlock(program, install)}</div>`;
}

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
