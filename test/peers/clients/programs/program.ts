import { readFileSync } from 'node:fs';
import { ConnectionError, Harkara, ProblemError, verifyWebhook, WebhookVerificationError } from 'harkara';

/** A customer's program. test/peers/clients/clients.test.ts compares its output with that of program.py. */
const { HARKARA_URL = '', HARKARA_KEY = '', POST = '' } = process.env;
const harkara = new Harkara({ url: HARKARA_URL, key: HARKARA_KEY });
const told: Record<string, unknown> = {};

async function under(plan: readonly string[]): Promise<void> {
  await fetch(`${HARKARA_URL}/plan`, { method: 'POST', body: JSON.stringify(plan) });
}
const attempts = async (): Promise<unknown> => (await fetch(`${HARKARA_URL}/plan`)).json();
const failure = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ProblemError) {
    const fields = error.errors.map(({ field, code }) => `${field} ${code}`);
    return ['ProblemError', error.status, error.code, fields, error.retryAfterSeconds ?? null, await attempts()];
  }
  if (error instanceof ConnectionError) return ['ConnectionError', error.status ?? null, await attempts()];
  throw error;
};

const message = { to: '919876543210', message: 'Your code is 4711', sender: 'HARKRA' };
const { balance } = await harkara.account.balance();
await under(['lose', 'half', 'limited']);
const sent = await harkara.sms.send(message);
told.retried = await attempts();
told.paid = balance - (await harkara.account.balance()).balance;
told.sent = (await harkara.messages.get(sent.message_id)).to;

const named = { idempotencyKey: `order-${Date.now()}` };
const first = await harkara.sms.send(message, named);
told.same = (await harkara.sms.send(message, named)).message_id === first.message_id;
told.dry = (await harkara.sms.sendDryRun(message)).credits_required;

await under(Array(9).fill('down'));
told.bound = await failure(new Harkara({ url: HARKARA_URL, key: HARKARA_KEY, retries: 1 }).sms.send(message));
await under(['later']);
told.later = await failure(harkara.sms.send(message));
await under(['lose']);
told.unkeyed = await failure(harkara.templates.check({ content: 'Hello {#var#}' }));
await under([]);
// @ts-expect-error A field that is not one of a request.
told.problem = await failure(harkara.sms.send({ ...message, to: '12', priorty: 'otp' }));

const own = harkara.messages.list({ limit: 1, to: '919876543210' });
const ids: string[] = [];
for await (const { message_id } of own) ids.push(message_id);
told.pages = [new Set(ids).size === ids.length, ids.includes(sent.message_id), (await own.page()).data.length];
told.file = (await (await harkara.ledger.csv()).text()).split(',')[0];

const { secret, body, headers } = JSON.parse(readFileSync(POST, 'utf8'));
const event = await verifyWebhook(body, headers, secret);
told.event = [event.event, event.event_id, 'message_id' in event && event.message_id];
const refused = (call: Promise<unknown>) =>
  call.then(
    () => 'taken',
    (error: unknown) => error instanceof WebhookVerificationError,
  );
told.refused = [
  await refused(verifyWebhook(`${body} `, headers, secret)),
  await refused(verifyWebhook(body, headers, `whsec_${btoa('another secret')}`)),
  await refused(verifyWebhook(body, headers, secret, { now: Date.now() + 301_000 })),
  await refused(verifyWebhook(body, { ...headers, 'webhook-signature': 'v1,?' }, secret)),
  await refused(verifyWebhook(body, {}, secret)),
];
console.log(JSON.stringify(told));

/** Only has to compile: an event's fields follow from its name, a code is one of the gateway's. */
export function kinds(error: ProblemError): boolean {
  if (event.event === 'message.delivered') return event.delivered_at !== '';
  // @ts-expect-error There is no such event.
  if (event.event === 'message.lost') return false;
  // @ts-expect-error There is no such code.
  return error.code === 'insufficent_credits';
}
