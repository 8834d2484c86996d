import { codeBlock } from './html.ts';

/** What the clients of scripts/clients are like. A test runs both programs (test/peers/clients/clients.test.ts). */
export const CLIENTS_PAGE = {
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
