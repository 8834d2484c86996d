import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import request from 'supertest';
import { ACCOUNT_SOURCES } from '../../../../gateway/endpoints/live/live.ts';
import { LiveHub, LiveStream } from '../../../../gateway/endpoints/live/stream.ts';
import { GatewayServer } from '../../../../gateway/http/server.ts';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import type { KeyDocument } from '../../../../shared/people/keys/key.ts';
import { setRole } from '../../../../shared/people/users/store.ts';
import type { SessionDocument, UserDocument } from '../../../../shared/people/users/user.ts';
import { connectStore } from '../../../../shared/platform/mongo/connect.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { type EventStream, openStream } from '../../../support/event-stream.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { expectProblem } from '../../../support/problem.ts';
import { newSession, signedIn } from '../../../support/signed-in.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

const PATH = '/v2/account/stream';

describe('GET /v2/account/stream', () => {
  const store = useStore();
  let db: Db;
  let gateway: TestGateway;
  let account: AccountId;
  let key: string;
  let open: EventStream[] = [];
  before(async () => {
    db = store.db;
  });
  beforeEach(async () => {
    gateway = await openGateway(db, { beatMs: 50 });
    account = await makeAccount(db, 10);
    key = await makeKey(db, account);
  });
  afterEach(async () => {
    for (const stream of open) stream.close();
    open = [];
    await gateway.close();
  });

  const stream = async (query = '', as: Parameters<typeof openStream>[1] = key): Promise<EventStream> => {
    const opened = await openStream(`${gateway.url}${PATH}${query}`, as);
    open.push(opened);
    return opened;
  };
  const ask = (query = '', as = key) =>
    request(gateway.url).get(`${PATH}${query}`).set('Authorization', `Bearer ${as}`);
  const named = (from: EventStream, name: string) => from.events.filter((event) => event.name === name);
  const balances = (from: EventStream): unknown[] =>
    named(from, 'balance').map(({ data }) => Reflect.get(Object(data), 'balance'));

  it('tells every value at once, later only what changed, and a comment line in between', async () => {
    const live = await stream();

    const told = () => new Set(live.events.map(({ name }) => name)).size;
    await eventually(() => told() === ACCOUNT_SOURCES.length, 'every source has told its value');
    expect(live.response.headers).to.include({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(live.text).to.match(/^retry: \d+\n\n/);
    expect(named(live, 'balance')[0]?.data).to.deep.equal({ balance: 10, currency: 'INR', expiry_date: '2099-12-31' });
    expect(named(live, 'messages')[0]?.data).to.deep.equal({ data: [] });
    expect(named(live, 'inbox')[0]?.data).to.deep.equal({ message_id: null });

    expect(named(live, 'replays')[0]?.data).to.deep.equal({ data: [] });
    expect(named(live, 'chat_templates')[0]?.data).to.deep.equal({ states: {}, waiting: 0 });

    await topUp(db, account, 5, 'more');
    await eventually(() => balances(live).length === 2, 'the new balance is told');
    expect(balances(live)).to.deep.equal([10, 15]);
    expect(live.events).to.have.lengthOf(told() + 1);
    expect(live.beats).to.be.greaterThan(0);
  });

  it('tells of a message that is sent, as the list shows it', async () => {
    const live = await stream('?events=messages');
    await eventually(() => live.events.length === 1, 'the empty list');

    const sent = await request(gateway.url)
      .post('/v2/send')
      .set('Authorization', `Bearer ${key}`)
      .send({ to: '919876543210', message: 'hello', sender: 'HARKRA' });

    await eventually(() => live.events.length === 2, 'the message');
    const listed = await request(gateway.url).get('/v2/messages').set('Authorization', `Bearer ${key}`);
    expect(live.events[1]?.data).to.deep.equal({ data: listed.body.data });
    expect(JSON.stringify(live.events[1]?.data)).to.include(sent.body.message_id).and.not.include('hello');
  });

  it("never tells another account's things", async () => {
    const theirs = await makeAccount(db, 77);
    const live = await stream();
    const other = await stream('', await makeKey(db, theirs));

    await eventually(() => balances(live).length === 1 && balances(other).length === 1, 'both are told');
    expect([balances(live), balances(other)]).to.deep.equal([[10], [77]]);
  });

  it('reads once, however many listen, and not at all when nobody does', async () => {
    const counting = openCountingDb(store);
    const counted = await openGateway(counting.db, { beatMs: 60_000 });
    const many = await Promise.all(
      Array.from({ length: 10 }, () => openStream(`${counted.url}${PATH}?events=balance`, key)),
    );
    open.push(...many);
    await eventually(() => many.every(({ events }) => events.length === 1), 'all are told');
    const before = counting.sent('find', 'accounts');

    await topUp(db, account, 1, 'once');
    await eventually(() => many.every(({ events }) => events.length === 2), 'all are told again');
    // A read begun before the top-up may count too; a read for each of the ten listeners would be far more.
    expect(counting.sent('find', 'accounts') - before).to.be.within(1, 3);

    for (const one of many) one.close();
    await eventually(async () => (await connections(counted)) === 0, 'the gateway knows that they are gone');
    const rest = counting.sent('find', 'accounts');
    await topUp(db, account, 1, 'nobody');
    const next = await openStream(`${counted.url}${PATH}?events=balance`, key);
    open.push(next);
    await eventually(() => next.events.length === 1, 'the next one is told');
    expect(balances(next)).to.deep.equal([12]);
    expect(counting.sent('find', 'accounts') - rest).to.be.within(1, 3);
    await counted.close();
    await counting.close();
  });

  it('ends when its key is revoked, and says so', async () => {
    const live = await stream('?events=balance');
    await eventually(() => live.events.length === 1, 'it is told the balance');

    await db.collection<KeyDocument>('keys').updateOne({ account }, { $set: { status: 'revoked' } });

    await eventually(() => live.ended, 'it has ended');
    expect(live.events.at(-1)).to.deep.equal({ name: 'end', data: { code: 'key_revoked' } });
  });

  it('7.4.1: a viewer may listen, until the session has ended; an open stream does not keep it from ending', async () => {
    const { headers, session, user } = await signedIn(db, 'viewer', account);
    const sessions = db.collection<SessionDocument>('sessions');
    const live = await stream('?events=balance', headers);
    const other = await stream('?events=balance', (await newSession(db, user)).headers);
    await eventually(() => live.beats > 3 && other.beats > 3, 'both live');
    expect((await sessions.findOne({ _id: session._id }))?.seenAt).to.deep.equal(session.seenAt);

    await sessions.deleteOne({ _id: session._id });

    await eventually(() => live.ended, 'it has ended');
    expect(live.events.at(-1)).to.deep.equal({ name: 'end', data: { code: 'session_ended' } });
    const { beats } = other;
    await eventually(() => other.beats > beats, 'the other session goes on');
  });

  it('an operator listens to an account, by session or key, for as long as the role says so', async () => {
    const desk = await signedIn(db, 'operator_desk');
    const query = `?events=balance&account=${account}`;
    const byKey = await stream(query, await makeKey(db, undefined, ['admin:look']));
    const live = await stream(query, desk.headers);
    await eventually(() => live.beats > 2 && byKey.beats > 2, 'both have gone on');

    await setRole(db, desk.user._id, 'operator_viewer');

    await eventually(() => live.ended, 'it ends');
    expect(live.events.at(-1)).to.deep.equal({ name: 'end', data: { code: 'scope_missing' } });
    expect(byKey.ended).to.equal(false);
  });

  it('ends as soon as the user needs a second factor that the session has not', async () => {
    const { headers, session, user } = await signedIn(db, 'viewer', account);
    await db.collection<SessionDocument>('sessions').updateOne({ _id: session._id }, { $unset: { factor: '' } });
    const live = await stream('?events=balance', headers);
    await eventually(() => live.beats > 1, 'live');

    await db.collection<UserDocument>('users').updateOne({ _id: user._id }, { $set: { role: 'owner' } });

    await eventually(() => live.ended, 'it has ended');
    expect(live.events.at(-1)).to.deep.equal({ name: 'end', data: { code: 'session_ended' } });
  });

  it('goes on after the store was away', async () => {
    const proxy = await startWireProxy(store.uri);
    const { db: shaky, close } = await connectStore({
      mongodbUri: proxy.uri,
      dataDir: '',
      mongodbDatabase: db.databaseName,
    });
    const through = await openGateway(shaky, { beatMs: 50 });
    const live = await openStream(`${through.url}${PATH}?events=balance`, key);
    open.push(live);
    await eventually(() => live.events.length === 1, 'it is told the balance');

    proxy.become('down');
    const { beats } = live;
    await eventually(() => live.beats > beats + 3, 'it lives');
    proxy.become('well');
    await topUp(db, account, 1, 'meanwhile');

    await eventually(() => live.events.length === 2, 'the new balance is told');
    expect(live.ended).to.equal(false);
    await through.close();
    await close();
    await proxy.close();
  });

  it('is cut off when its caller does not read', async () => {
    let stream: LiveStream | undefined;
    let closed = false;
    const server = new GatewayServer((_req, res) => {
      stream = new LiveStream(res, () => {
        closed = true;
      });
    });
    const socket = connect(await server.listen('127.0.0.1', 0), '127.0.0.1');
    socket.on('error', () => {}).pause();
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(() => stream, 'the stream is open');

    const value = JSON.stringify('x'.repeat(60_000));
    await eventually(() => {
      stream?.tell('large', value);
      return closed;
    }, 'it is cut off once the buffers of the system are full');
    await server.drain();
    socket.destroy();
  });

  it('ends when the process stops, and holds up no stop', async () => {
    const live = await stream('?events=balance');
    await eventually(() => live.events.length === 1, 'it is told the balance');
    const beganMs = performance.now();

    await gateway.close();

    expect(performance.now() - beganMs).to.be.lessThan(9_000); // unanswered requests are cut off after 10 s
    await eventually(() => live.ended, 'it has ended');
    expect(live.response.complete).to.equal(true);
    gateway = await openGateway(db);
  });

  it('429 for the thirteenth stream of a key, and room again when one has gone', async () => {
    const many = await Promise.all(Array.from({ length: 12 }, () => stream('?events=balance')));

    const answer = await ask();
    expectProblem(answer, 'too_many_streams');
    expect(answer.headers['retry-after']).to.equal('30');
    const other = await stream('', await makeKey(db, account));
    await eventually(() => other.events.length > 0, 'another key of the account has room');

    many[0]?.close();
    await eventually(async () => {
      (await stream('?events=balance')).close();
      return true;
    }, 'there is room again');
  });

  it('HEAD answers the head alone', async () => {
    const answer = await request(gateway.url).head(PATH).set('Authorization', `Bearer ${key}`);

    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.match(/^text\/event-stream/);
  });

  for (const [query, field] of [
    ['events=', 'events'],
    ['events=balance,nothing', 'events'],
    ['event=balance', 'event'],
  ]) {
    it(`400: ${query}`, async () => {
      const answer = await ask(`?${query}`);

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors.map((problem: { field: string }) => problem.field)).to.deep.equal([field]);
    });
  }

  it("operators have a stream of their own, which no account's key may open", async () => {
    const url = `${gateway.url}/v2/admin/stream`;
    const live = await openStream(url, (await signedIn(db, 'operator')).headers);
    open.push(live);
    await eventually(() => live.beats > 1, 'it lives');

    expectProblem(await request(url).get('').set('Authorization', `Bearer ${key}`), 'scope_missing');
  });

  it('401 without a key, 403 with one that may only send', async () => {
    expectProblem(await request(gateway.url).get(PATH), 'key_missing');
    expectProblem(await ask('', await makeKey(db, account, ['send'])), 'scope_missing');
    const { headers } = await signedIn(db, 'operator');
    expectProblem(await request(gateway.url).get(PATH).set(headers), 'scope_missing');
  });
});

function connections({ server }: TestGateway): Promise<number> {
  return new Promise((resolve, reject) => {
    server.http.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

describe('what streams tell', () => {
  it('is read more seldom when a read takes long: twenty times as long lies between two', async () => {
    const hub = new LiveHub({ clock: systemClock, log: silentLog });
    const begins: number[] = [];
    const ends: number[] = [];
    const read = async () => {
      begins.push(systemClock.monotonicMs());
      await wait(150);
      ends.push(systemClock.monotonicMs());
      return {};
    };

    const leave = hub.watch({ name: 'slow', key: 'slow', read }, () => {});
    await eventually(() => begins.length === 2, 'it is read again');
    leave();

    expect((begins[1] ?? 0) - (ends[0] ?? 0)).to.be.at.least(20 * 140);
  });
});
