import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../shared/money/payment/accept.ts';
import { connectStore } from '../../../shared/platform/mongo/connect.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { callbackPost, callbackSignature, textMessage } from '../../support/chat-callback.ts';
import { makeProvider } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { answered, FOREIGN_CODES, foreign, pass } from '../../support/mongo-wire/faults.ts';
import { isHello } from '../../support/mongo-wire/link.ts';
import { startWireProxy } from '../../support/mongo-wire/proxy.ts';
import { furnish, moved } from '../../support/one-of-each.ts';
import { operations } from '../../support/openapi.ts';
import { writeOutAll } from '../../support/queue.ts';
import { signedIn } from '../../support/signed-in.ts';
import { silentLog as log } from '../../support/silent-log.ts';
import { useStore } from '../../support/store.ts';
import { use } from '../../support/use.ts';

const CREDITS = 100_000;
const SAMPLE = [1, 50_463_173, undefined, 13, 8] as const;
const OURS = { 'X-Dashboard': '1', 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/json' };

interface Call {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  body?(): string;
}

describe('a request, when the store answers with a code that nobody knows', function () {
  this.timeout(300_000);
  const store = useStore();
  const proxy = use(() => startWireProxy(store.uri));
  const faulty = use(() =>
    connectStore({ mongodbUri: proxy.uri, dataDir: '', mongodbDatabase: store.db.databaseName }),
  );
  let gateway: TestGateway;
  let accepter: GroupAccepter;
  let account: AccountId;
  let calls: readonly Call[];
  let key: string;
  before(async () => {
    const { db } = store;
    account = await makeAccount(db, CREDITS);
    await furnish(db, account);
    const { headers } = await signedIn(db, 'owner', account);
    key = await makeKey(db, account, ['send', 'read'], undefined, 1_000_000);
    const { provider } = await makeProvider(db, await makeAccount(db, 0), { phoneNumberId: '1056' });
    accepter = new GroupAccepter({ db: faulty.db, clock, log });
    gateway = await openGateway(faulty.db, { accepter });
    const callback = (): string => JSON.stringify(callbackPost({ messages: [textMessage('wamid.A')] }, '1056'));
    const signed = callback();
    calls = [
      ...posts(headers),
      { name: 'a key is checked', path: '/v2/balance', headers: { authorization: `Bearer ${key}` } },
      { name: 'messages are listed', path: '/v2/messages', headers },
      {
        ...{ name: 'somebody signs in', path: '/v2/session', method: 'POST', headers: OURS },
        body: () => JSON.stringify({ username: 'asha@example.com', password: 'not the right one' }),
      },
      {
        ...{ name: 'a provider calls back', path: `/chatapp/callback/${provider.callback}`, method: 'POST' },
        headers: { 'Content-Type': 'application/json', 'X-Hub-Signature-256': callbackSignature(signed) },
        body: () => signed,
      },
    ];
  });
  after(async () => {
    await gateway.close();
    await accepter.settled();
  });

  /** Every example of the contract that sends. */
  const posts = (headers: Readonly<Record<string, string>>): readonly Call[] =>
    operations.flatMap(({ method, path, operation }) =>
      method === 'post' && SENDS.has(path)
        ? Object.values(operation.requestBody?.content?.['application/json']?.examples ?? {})
            .slice(0, 1)
            .map(({ value }) => ({
              ...{ name: path, path, method: 'POST', body: () => JSON.stringify(moved(value)) },
              headers: { ...headers, 'Content-Type': 'application/json' },
            }))
        : [],
    );

  const ask = async ({ path, method = 'GET', headers, body }: Call) => {
    const answer = await fetch(gateway.url + path, {
      method,
      headers: { ...headers, ...(body && SENDS.has(path) ? { 'Idempotency-Key': newId('req') } : {}) },
      ...(body && { body: body() }),
    });
    const text = await answer.text();
    const [, id] = /"(?:message|batch|schedule)_id":"([^"]+)"/.exec(text) ?? [];
    return { status: answer.status, text, id };
  };

  /** The commands of a call without faults, by name and collection. */
  async function placesOf(call: Call) {
    const places = new Map<string, { readonly command: string; readonly collection: string }>();
    const watched = proxy.inject({
      times: Number.POSITIVE_INFINITY,
      happens: async (command, link) => {
        const { name, collection } = command;
        if (!isHello(command) && collection !== undefined)
          places.set(`${name} ${collection}`, { command: name, collection });
        await pass(command, link);
      },
    });
    const { status, text } = await ask(call);
    await accepter.settled();
    watched.end();
    expect(status, `${call.name}: ${text}`).to.be.below(500);
    return { usual: status, places: [...places.values()] };
  }

  it('is answered with 503 or as usual at each of its commands, and never with 200 for what is not stored', async () => {
    const unlike: string[] = [];
    const ids = new Set<string>();
    let tried = 0;
    for (const call of calls) {
      const { usual, places } = await placesOf(call);
      for (const place of places) {
        const code = SAMPLE[tried++ % SAMPLE.length];
        const fault = proxy.inject({ ...place, times: Number.POSITIVE_INFINITY, happens: answered(foreign(code)) });
        const { status, id } = await ask(call);
        fault.end();
        if (status !== 503 && status !== usual)
          unlike.push(`${call.name}, ${place.command} ${place.collection}: ${status}`);
        if (status === 200 && id !== undefined) ids.add(id);
      }
    }
    expect(unlike).to.deep.equal([]);
    expect(tried).to.be.greaterThan(30);

    await accepter.settled();
    await recover();
    for (const id of ids) expect(await isStored(id), id).to.equal(true);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  });

  it('is paid and stored once, whatever code the first debit is answered with', async () => {
    const call: Call = {
      ...{ name: 'send', path: '/v2/send', method: 'POST' },
      headers: { authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: () => JSON.stringify({ to: '919876543210', message: 'hello', sender: 'HARKRA' }),
    };
    const { balance } = await verifyLedger(store.db, account);
    const before = await store.db.collection('messages').countDocuments({ account });
    const answers: string[] = [];
    for (const [i, code] of FOREIGN_CODES.entries()) {
      const said = i % 2 === 0 ? foreign(code) : { ok: 1, n: 0, writeErrors: [{ index: 0, code, errmsg: 'played' }] };
      proxy.inject({ command: 'update', collection: 'accounts', happens: answered(said) });
      const { status } = await ask(call);
      answers.push(status === 200 || status === 503 ? String(status) : `${code}: ${status}`);
    }
    expect(new Set(answers)).to.deep.equal(new Set(answers.filter((one) => one === '200' || one === '503')));
    await accepter.settled();
    await recover();

    const made = (await store.db.collection('messages').countDocuments({ account })) - before;
    const after = await verifyLedger(store.db, account);
    expect({ made, problems: after.problems, paid: balance - after.balance }).to.deep.equal({
      ...{ made: answers.filter((one) => one === '200').length, problems: [] },
      paid: made,
    });
  });

  /** As maintenance does later, when no process can still be working on it. */
  async function recover(): Promise<void> {
    await eventually(async () => {
      await finishPending(store.db, new ManualClock(new Date(Date.now() + 120_000)));
      const stored = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
      return Object.keys(stored?.pending ?? {}).length === 0;
    }, 'nothing is pending');
    await writeOutAll(store.db);
  }

  async function isStored(id: string): Promise<boolean> {
    const collections = ['messages', 'batches', 'schedules'];
    const found = await Promise.all(
      collections.map((name) => store.db.collection<{ _id: string }>(name).countDocuments({ _id: id })),
    );
    return found.some((count) => count > 0);
  }
});

const SENDS = new Set([
  '/v2/send',
  '/v2/send-bulk',
  '/v2/schedule',
  '/v2/chatapp/send',
  '/v2/chatapp/send-text',
  '/v2/account/keys',
  '/v2/account/webhooks',
  '/v2/account/templates',
]);
