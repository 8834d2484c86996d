import { connect } from 'node:net';
import { LiveStream } from '../../../../gateway/endpoints/live/stream.ts';
import { GatewayServer } from '../../../../gateway/http/server.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { openStream } from '../../../support/event-stream.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey, openGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { startWireProxy } from '../../../support/mongo-wire/proxy.ts';
import { useStore } from '../../../support/store.ts';

describe('live: callers who go or read late', () => {
  const store = useStore();

  it('one who goes while the store is asked who it is leaves nothing behind', async () => {
    const key = await makeKey(store.db, await makeAccount(store.db, 10));
    const proxy = await startWireProxy(store.uri);
    const counting = openCountingDb({ uri: proxy.uri, db: store.db });
    await counting.db.command({ ping: 1 });
    const gateway = await openGateway(counting.db);
    proxy.become('slow');
    const gone = connect(gateway.port, '127.0.0.1');
    gone.write(`GET /v2/account/stream?events=balance HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await eventually(() => counting.sent('find') > 0, 'the store is asked');

    gone.destroy();

    // A key may have twelve streams. These are requested after the abandoned one, so they are answered after it.
    const url = `${gateway.url}/v2/account/stream?events=balance`;
    const first = await openStream(url, key);
    proxy.become('well');
    const others = await Promise.all(Array.from({ length: 11 }, () => openStream(url, key)));
    for (const one of [first, ...others]) one.close();
    await gateway.close();
    await counting.close();
    await proxy.close();
  });

  it('large values of several things at once reach one who reads', async () => {
    const server = new GatewayServer((_req, res) => {
      const stream = new LiveStream(res, () => {});
      for (const name of ['carriers', 'overview', 'checks']) stream.tell(name, JSON.stringify('x'.repeat(200_000)));
      stream.end();
    });
    const port = await server.listen('127.0.0.1', 0);

    const live = await openStream(`http://127.0.0.1:${port}/`, {});

    await eventually(() => live.ended, 'it has ended');
    expect(live.events.map(({ name }) => name)).to.deep.equal(['carriers', 'overview', 'checks']);
    await server.drain();
  });
});
