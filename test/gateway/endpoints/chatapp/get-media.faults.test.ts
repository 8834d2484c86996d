import { get, type IncomingMessage } from 'node:http';
import type { CustomersFile } from '../../../../scripts/simulator/provider/files.ts';
import { findAccount } from '../../../../shared/money/accounts/store.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { LOCAL_FILES, LONG, type MediaWorld, openHost, openMediaWorld, PHOTO } from './get-media-world.ts';

/** Unread data fills sockets and buffers: some MB of the file, never all. */
const ON_ITS_WAY_MAX = 40_000_000;
const LARGE: CustomersFile = { ...PHOTO, content: 3_000_000 };

describe('GET /v2/chatapp/media/{message_id}, when something breaks', () => {
  let world: MediaWorld;
  const open = async (...how: Parameters<typeof openMediaWorld>) => {
    world = await openMediaWorld(...how);
  };
  afterEach(() => world.close());

  /** The answer, its body unread. */
  const begin = (id: string, key = world.key) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      get(`${world.gateway.url}/v2/chatapp/media/${id}`, { headers, agent: false }, resolve).once('error', reject);
    });

  /** Bytes received, and whether the answer was complete as HTTP defines it. */
  async function read(answer: IncomingMessage): Promise<{ readonly bytes: number; readonly whole: boolean }> {
    let bytes = 0;
    try {
      for await (const chunk of answer as AsyncIterable<Buffer>) bytes += chunk.length;
      return { bytes, whole: answer.complete };
    } catch {
      return { bytes, whole: false };
    }
  }
  const nothingLeft = () =>
    eventually(async () => {
      expect(await world.inFlight()).to.equal(0);
      expect(world.provider.fileReads().filter(({ ended }) => ended === 'open')).to.deep.equal([]);
      return true;
    }, 'no slot and no connection is left');

  it('the caller’s connection is cut when the provider breaks off, or has fewer or more bytes than promised', async () => {
    await open();
    for (const fate of ['cut', 'short', 'long'] as const) {
      const { whole } = await read(await begin(await world.sent({ ...LARGE, fate })));
      expect(whole, fate).to.equal(false);
    }
    await nothingLeft();
    expect(await world.results()).to.deep.equal({ broken_off: 3 });
    const cuts = world.lines.filter(({ event }) => event === 'chatapp_file_cut').map(({ fields }) => fields.code);
    expect(cuts).to.deep.equal(['connection_lost', 'wrong_length', 'wrong_length']);
  });

  it('a provider that goes silent is waited for, but not long', async () => {
    await open({}, { fileTimes: { idleMs: 300, wholeMs: 60_000 } });
    const { whole } = await read(await begin(await world.sent({ ...LARGE, fate: 'stall' })));

    expect(whole).to.equal(false);
    await nothingLeft();
    expect(await world.results()).to.deep.equal({ too_slow: 1 });
  });

  it('a caller who reads nothing holds up the provider, not the memory, and then loses the slot', async () => {
    await open({}, { fileTimes: { idleMs: 3_000, wholeMs: 60_000 } });
    const answer = await begin(await world.sent(LONG));
    answer.pause();
    await nothingLeft();

    const [seen] = world.provider.fileReads();
    expect(seen?.ended).to.equal('cut');
    expect(seen?.sent).to.be.below(ON_ITS_WAY_MAX);
    expect(await world.results()).to.deep.equal({ too_slow: 1 });
    answer.destroy();
  });

  it('one file has a limit as a whole, however steadily it comes', async () => {
    await open({}, { fileTimes: { idleMs: 60_000, wholeMs: 5_000 } });
    const drips = await openHost((_, res) => {
      const timer = setInterval(() => res.write('drip'), 20);
      res.once('close', () => clearInterval(timer));
    });
    const tells = await openHost((_, res) => res.end(JSON.stringify({ url: `http://127.0.0.1:${drips.port}/a` })));
    await world.configure(world.account, { baseUrl: `http://127.0.0.1:${tells.port}/v23.0` });
    const { bytes, whole } = await read(await begin(await world.sent(PHOTO)));

    expect(bytes).to.be.above(0);
    expect(whole).to.equal(false);
    await nothingLeft();
    tells.close();
    drips.close();
  });

  it('a file that comes steadily may take longer than the pause that is allowed', async () => {
    await open({}, { fileTimes: { idleMs: 5_000, wholeMs: 60_000 } });
    const drips = await openHost((_, res) => {
      let left = 14;
      const timer = setInterval(() => {
        res.write('drip');
        if (--left > 0) return;
        clearInterval(timer);
        res.end();
      }, 500);
    });
    const tells = await openHost((_, res) => res.end(JSON.stringify({ url: `http://127.0.0.1:${drips.port}/a` })));
    await world.configure(world.account, { baseUrl: `http://127.0.0.1:${tells.port}/v23.0` });

    expect(await read(await begin(await world.sent(PHOTO)))).to.deep.equal({ bytes: 14 * 4, whole: true });
    tells.close();
    drips.close();
  });

  it('when the caller leaves, the provider is not read any more: while it is silent, and in the middle', async () => {
    await open();
    const silent = await world.sent({ ...PHOTO, fate: 'silent' });
    const waiting = get(`${world.gateway.url}/v2/chatapp/media/${silent}`, {
      headers: { authorization: `Bearer ${world.key}` },
    }).on('error', () => {});
    await eventually(() => world.provider.fileReads().length === 1, 'the provider is asked');
    waiting.destroy();
    await nothingLeft();

    const answer = await begin(await world.sent(LONG));
    answer.once('data', () => answer.destroy());
    await nothingLeft();
    expect(world.provider.fileReads()[1]?.sent).to.be.below(ON_ITS_WAY_MAX);
    expect(await world.results()).to.deep.equal({ caller_left: 2 });
  });

  it('100 at once: 16 of them at a time, the others are told to come again, and do', async () => {
    await open();
    const id = await world.sent(LARGE);
    let most = 0;
    const fetchIt = async (): Promise<number> => {
      for (let tries = 1; ; tries++) {
        const answer = await begin(id);
        most = Math.max(most, await world.inFlight());
        const { bytes, whole } = await read(answer);
        if (answer.statusCode === 200) {
          expect([bytes, whole]).to.deep.equal([3_000_000, true]);
          return tries;
        }
        expect([answer.statusCode, answer.headers['retry-after']]).to.deep.equal([429, '5']);
      }
    };
    const tries = await Promise.all(Array.from({ length: 100 }, fetchIt));

    expect(Math.max(...tries)).to.be.above(1);
    expect(most).to.be.within(2, 16);
    await nothingLeft();
  }).timeout(120_000);

  it('an account that has all its slots takes none of others, and the process has an end too', async () => {
    const more = ['A', 'B', 'C', 'D', 'E'].map((name) => ({
      ...{ phoneNumberId: `1066${name}`, businessId: '2055', displayNumber: `15550783${name}` },
    }));
    await open({ more });
    const numbers = more.values();
    const held: IncomingMessage[] = [];
    const asks = async (): Promise<number> => {
      const account = await makeAccount(world.db, 1);
      await world.configure(account, { phoneNumberId: numbers.next().value?.phoneNumberId ?? '' });
      const key = await makeKey(world.db, account);
      const id = await world.sent({ ...LARGE, fate: 'stall' }, account);
      const answers = await Promise.all(Array.from({ length: 17 }, () => begin(id, key)));
      for (const answer of answers) held.push(answer.on('error', () => {}).pause());
      expect((await findAccount(world.db, account))?._id).to.equal(account);
      return answers.filter(({ statusCode }) => statusCode === 200).length;
    };

    expect([await asks(), await asks(), await asks(), await asks(), await asks()]).to.deep.equal([16, 16, 16, 16, 0]);
    expect(held.at(-1)?.statusCode).to.equal(503);
    for (const answer of held) answer.destroy();
    await nothingLeft();
    expect((await begin(await world.sent(PHOTO))).resume().statusCode).to.equal(200);
  });

  it('only the provider and the address that it named are told the token: never a private host, never a redirect', async () => {
    const other = await openHost((_, res) => res.end('secret'));
    const hosts = [`127.0.0.1:${other.port}`, `files.example.com:${other.port}`];
    for (const mediaHost of hosts) {
      for (const webhookAllowHttp of ['yes', 'no'] as const) {
        const config = { ...LOCAL_FILES, webhookAllowHttp, webhookAllowSubnets: [] };
        await open({ mediaHost }, { config, resolveHost: async () => ['127.0.0.1'] });
        const answer = await begin(await world.sent(PHOTO));
        expect(answer.resume().statusCode).to.equal(502);
        if (mediaHost !== hosts.at(-1) || webhookAllowHttp !== 'no') await world.close();
      }
    }
    const moved = await openHost((_, res) => res.writeHead(302, { location: `http://${hosts[0]}/` }).end());
    await world.configure(world.account, { baseUrl: `http://127.0.0.1:${moved.port}/v23.0` });
    expect((await begin(await world.sent(PHOTO))).resume().statusCode).to.equal(503);

    expect(moved.asked).to.have.lengthOf(1);
    expect(other.asked).to.deep.equal([]);
    moved.close();
    other.close();
  });

  it('answers of a provider that are no answers: later, and the event loop goes on', async () => {
    await open();
    const bodies = [
      '',
      '<html>',
      '{"url":7}',
      '{"url":"no address"}',
      'x'.repeat(70_000),
      `{"url":${'['.repeat(9_000)}`,
    ];
    const odd = await openHost((_, res) => res.end(bodies.shift()));
    await world.configure(world.account, { baseUrl: `http://127.0.0.1:${odd.port}/v23.0` });
    const id = await world.sent(PHOTO);
    while (bodies.length > 0) expect((await begin(id)).resume().statusCode).to.equal(503);
    odd.close();
  });

  it('a gateway that stops does not wait for a file for ever', async () => {
    await open();
    const answer = await begin(await world.sent({ ...LARGE, fate: 'stall' }));
    const ended = read(answer);
    world.gateway.stopping.abort();
    await world.gateway.server.drain();

    expect((await ended).whole).to.equal(false);
    await nothingLeft();
  });
});
