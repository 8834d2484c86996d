import { AddressGuard } from '../../../../shared/events/webhooks/address-guard.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { ProviderClient } from '../../../../workers/chatapp/provider/client.ts';
import { HeaderSamples } from '../../../../workers/chatapp/samples/header-samples.ts';
import { eventually } from '../../../support/eventually.ts';
import { type FileServer, openFiles } from './file-server.ts';

const OPEN = new AddressGuard({ allowHttp: true, allowSubnets: ['127.0.0.0/8'] });
/** A provider that cannot be reached: nobody listens at this address. */
const provider = {
  baseUrl: 'http://127.0.0.1:9/v23.0',
  phoneNumberId: '1055',
  businessId: '2055',
  appId: '2871',
  windowSize: 1,
  timeoutMs: 1_000,
};

describe('samples of headers', () => {
  const account = newId('acc');
  const client = new ProviderClient({ provider, token: 'EAAtest' });
  const never = new AbortController().signal;
  let files: FileServer;
  before(async () => {
    files = await openFiles();
  });
  after(() => {
    client.close();
    files.close();
  });

  const hand = (guard: AddressGuard, url: string, tries = 0) =>
    new HeaderSamples(guard).handOver({ account, format: 'image', url, tries }, client, never);

  it('a private address and http are refused at the connection too, and nothing is asked', async () => {
    const closed = new AddressGuard({ allowHttp: true, allowSubnets: [] });
    const named = new AddressGuard({ allowHttp: true, allowSubnets: [], resolve: async () => ['127.0.0.1'] });
    const secure = new AddressGuard({ allowHttp: false, allowSubnets: ['127.0.0.0/8'] });
    const { port } = new URL(files.url);

    for (const [guard, url] of [
      [closed, `${files.url}/good.png`],
      [named, `http://files.harkara.in:${port}/good.png`],
      [secure, `${files.url}/good.png`],
    ] as const) {
      expect(await hand(guard, url)).to.include({ kind: 'refused' });
    }
    expect(files.asked).to.deep.equal([]);
  });

  it('a server that is away is tried five times', async () => {
    expect(await hand(OPEN, `${files.url}/busy.png`)).to.include({ kind: 'unread' });
    const last = await hand(OPEN, `${files.url}/busy.png`, 4);

    expect(last).to.deep.equal({
      kind: 'refused',
      reason: 'The file of the header could not be used. Its address answers HTTP 503.',
    });
    expect(await hand(OPEN, 'http://127.0.0.1:9/a.png')).to.include({ kind: 'unread' });
  });

  it('a provider that is away is waited for, however long', async () => {
    expect(await hand(OPEN, `${files.url}/good.png`, 100)).to.include({ kind: 'later' });
  });

  it('four at a time; others wait for their turn, before whoever comes again', async () => {
    const samples = new HeaderSamples(OPEN);
    const stops = Array.from({ length: 4 }, () => new AbortController());
    const ended: string[] = [];
    const before = files.asked.length;
    const one = (name: string, file: string, { signal }: AbortController) =>
      samples
        .handOver({ account: newId('acc'), format: 'image', url: `${files.url}/${file}`, tries: 0 }, client, signal)
        .then(({ kind }) => ended.push(`${name} ${kind}`));
    const slow = stops.map((stop, i) => one(`slow ${i}`, 'hangs.png', stop));
    const gone = new AbortController();
    const closed = one('closed', 'hangs.png', gone);
    const other = one('other', 'good.png', new AbortController());
    const last = new AbortController();
    const again = one('again', 'hangs.png', last);

    await eventually(() => files.asked.length - before === 4, 'four are asked for');
    gone.abort();
    await closed;
    // Whoever ended while waiting gave no place away: by the time of another's answer, nothing more was asked for.
    await hand(OPEN, `${files.url}/busy.png`);
    expect(ended).to.deep.equal(['closed unread']);
    expect(files.asked.slice(before)).not.to.include('/good.png');
    stops[0]?.abort();
    await other;
    expect(ended).to.deep.equal(['closed unread', 'slow 0 unread', 'other later']);
    for (const stop of [...stops, last]) stop.abort();
    await Promise.all([...slow, again]);
    expect(ended).to.have.length(7);
  });
});
