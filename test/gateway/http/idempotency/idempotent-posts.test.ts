import type { Document } from 'mongodb';
import request from 'supertest';
import type { KeyClaimDocument } from '../../../../gateway/http/idempotency/key-store.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { readStatement } from '../../../../shared/money/ledger/store.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { chatAtGateway } from '../../../support/chat-gateway.ts';
import { openGateway, type TestGateway } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { POSTS, type Post, WITHOUT_KEY } from './posts.ts';

const HOUR_MS = 3_600_000;
/** A doubled effect would show in one of these collections, in the statement, or as a new account. */
const COLLECTIONS = [
  ...['messages', 'batches', 'schedules', 'endpoints', 'conversations', 'opt_outs', 'keys', 'users', 'audit'],
  ...['templates', 'template_requests', 'chat_template_requests', 'webhook_replays', 'senders', 'ctas'],
  'verifications',
];
type Documents = Readonly<Record<string, readonly Document[]>>;

describe('Idempotency-Key on every POST', () => {
  const chat = chatAtGateway(20);
  let elsewhere: TestGateway;
  beforeEach(async () => {
    await chat.configure();
    await chat.customerWrote();
    await claims().deleteMany({});
    elsewhere = await openGateway(chat.db);
  });
  afterEach(() => elsewhere.close());

  const claims = () => chat.db.collection<KeyClaimDocument>('idempotency');

  /** Makes the table's request for the route, identical each time unless `changed` is given. */
  async function asking(route: string, post: Post) {
    const headers = (await post.caller?.(chat)) ?? { Authorization: `Bearer ${chat.key}` };
    const thing = (await post.thing?.(chat)) ?? '';
    const path = route.replace(/:\w+/, thing);
    const body = post.body(thing);
    return (changed: object = {}, url = chat.url, key = 'k') =>
      request(url)
        .post(path)
        .set(headers)
        .set('Idempotency-Key', key)
        .send({ ...body, ...changed });
  }

  async function documents(): Promise<Documents> {
    const { db, account } = chat;
    const found = COLLECTIONS.map(async (name) => [name, await db.collection(name).find({ account }).toArray()]);
    return Object.fromEntries(await Promise.all(found));
  }

  /** All that is stored of the account, except its key claims. */
  async function state() {
    const { db, account } = chat;
    const paid = await db.collection<AccountDocument>('accounts').findOne({ _id: account });
    const statement = await readStatement(db, account, Number.MAX_SAFE_INTEGER, 1_000);
    const accounts = await db.collection('accounts').countDocuments();
    return { documents: await documents(), statement, balance: paid?.balance, accounts };
  }
  /** Puts back the documents as they were. */
  async function restore(before: Documents): Promise<void> {
    for (const [name, stored] of Object.entries(before)) {
      await chat.db.collection(name).deleteMany({ account: chat.account });
      if (stored.length > 0) await chat.db.collection(name).insertMany([...stored]);
    }
  }
  /** Makes the key claim look as if its process had died before it noted the answer. `change`: fields to set. */
  async function orphan(change: Partial<KeyClaimDocument>): Promise<void> {
    const { matchedCount } = await claims().updateOne({}, { $set: change, $unset: { answer: '' } });
    expect(matchedCount).to.equal(1);
  }

  it('there is no POST that this test does not know', () => {
    const paths = elsewhere.app.router.stack.flatMap(({ route }) =>
      route?.stack.some(({ method }) => method === 'post') ? [route.path] : [],
    );

    expect(paths.sort()).to.deep.equal([...Object.keys(POSTS), ...Object.values(WITHOUT_KEY).flat()].sort());
  });

  for (const [route, post] of Object.entries(POSTS)) {
    describe(`POST ${route}`, () => {
      it('again, here and at another gateway: the first answer to the byte, and nothing done', async () => {
        const ask = await asking(route, post);
        const first = await ask();
        const before = await state();

        const again = await ask();
        const there = await ask({}, elsewhere.url, '"k"');
        const another = post.other && (await ask(post.other));

        expect(first.status, first.text).to.equal(200);
        expect(first.headers).not.to.have.property('idempotency-replayed');
        for (const replay of [again, there]) {
          expect(replay.status).to.equal(200);
          expect(replay.text).to.equal(first.text);
          expect(replay.headers).to.include({ 'idempotency-replayed': 'true' });
        }
        if (another !== undefined) expectProblem(another, 'idempotency_key_reused');
        expect(await state()).to.deep.equal(before);
      });

      it('a process that died behind what it did: the same key finds it, answered as the table says, done once', async () => {
        const ask = await asking(route, post);
        const first = await ask();
        const before = await state();
        await orphan({});

        const again = await ask();
        await orphan({ payBy: new Date(0) });
        const later = await ask();

        expect(first.status, first.text).to.equal(200);
        if (post.behind === 'again') {
          expectProblem(again, 'idempotency_in_flight');
          expect(later.status, later.text).to.equal(200);
          // Only the audit has two entries.
          expect({ ...(await documents()), audit: [] }).to.deep.equal({ ...before.documents, audit: [] });
          return;
        }
        for (const replay of [again, later]) {
          expect(replay.status, replay.text).to.equal(200);
          expect(replay.headers).to.include({ 'idempotency-replayed': 'true' });
          if (post.behind === undefined) expect(replay.text).to.equal(first.text);
          else expectRenewed(replay.body, first.body, post.behind.renewed);
        }
        const after = await state();
        if (post.behind !== undefined) {
          for (const { documents } of [before, after]) {
            const user = documents.users?.[1];
            if (user === undefined) continue;
            delete user.link;
            // Only the last of the renewed links is mailed.
            user.unannounced = (user.unannounced as { event: string }[]).filter(({ event }) => event !== 'link');
          }
        }
        expect(after).to.deep.equal(before);
      });

      it('a process that died before it did anything: 409 while it might live, then it is done', async () => {
        const ask = await asking(route, post);
        const before = await documents();
        await ask();
        await restore(before);
        const claim = await claims().findOne({});
        const prefix = claim?.result.split('_')[0];
        const like = (['msg', 'bat', 'sch', 'rpl', 'tpr', 'usr', 'acc', 'vrf', 'vck'] as const).find(
          (known) => known === prefix,
        );
        const result = post.unused?.(chat.account) ?? newId(like ?? 'req');
        await orphan({ result, payBy: new Date(Date.now() + HOUR_MS) });

        const soon = await ask();
        await orphan({ payBy: new Date(0) });
        const later = await ask();
        const replay = await ask();

        expectProblem(soon, 'idempotency_in_flight');
        expect(later.status, later.text).to.equal(200);
        expect(later.headers).not.to.have.property('idempotency-replayed');
        expect(replay.text).to.equal(later.text);
      });
    });
  }
});

function expectRenewed(body: Document, first: Document, renewed: readonly string[]): void {
  const old = Object.fromEntries(renewed.map((name) => [name, first[name]]));
  expect(body).to.include.all.keys(renewed);
  expect({ ...body, ...old }).to.deep.equal(first);
}
