import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { HeaderSamples, judgeUpload } from '../../../workers/chatapp/header-samples.ts';
import { ProviderClient } from '../../../workers/chatapp/provider/client.ts';
import { eventually } from '../../support/eventually.ts';
import { type FileServer, openFiles } from './file-server.ts';
import { graphError } from './provider-server.ts';

const OPEN = new AddressGuard({ allowHttp: true, allowSubnets: ['127.0.0.0/8'] });
/** Nobody listens at this provider's address. */
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
    // A waiter that ended gave no place away: nothing more was requested before another's answer.
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

const judge = (status: number, body: object) =>
  judgeUpload({ kind: 'answered', status, body: Buffer.from(JSON.stringify(body)) }, 'id');

describe('what the provider says to an upload', () => {
  const REFUSED = 'The provider refused the file of the header: ';

  it('a file that it refuses: its words, for the account', () => {
    expect(judge(400, graphError(100, 'in detail', { message: 'The file type is not supported' }))).to.deep.equal({
      kind: 'refused',
      reason: `${REFUSED}The file type is not supported`,
    });
    const info = { retriable: false, type: 'OffsetInvalidError', message: 'Request starting offset is invalid' };
    expect(judge(412, { debug_info: info })).to.deep.equal({ kind: 'refused', reason: REFUSED + info.message });
  });

  it('an app that does not exist, or not for the token: nothing that the account could help', () => {
    const noObject = graphError(100, 'x', { type: 'GraphMethodException', error_subcode: 33 });
    expect(judge(400, noObject)).to.deep.equal({
      kind: 'later',
      reason: 'there is no such app id, or the access token may not upload to it',
    });
    expect(judge(401, graphError(190))).to.include({ kind: 'later' });
    expect(judge(403, graphError(200))).to.include({ kind: 'later' });
  });
});
