import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../../scripts/simulator/receiver.ts';

const SECRET = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const OTHER = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const BODY = '{"event":"message.delivered","message_id":"msg_1","to":"919876543210"}';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function http(url: string, method: string, headers: Record<string, string> = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    call.on('error', reject).end(body);
  });
}

/** Headers of Standard Webhooks, signed here by hand. */
function signed(
  id: string,
  body = BODY,
  secrets = [SECRET],
  at = Math.floor(Date.now() / 1000),
): Record<string, string> {
  const signature = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature.join(' ') };
}

describe('the signatures of this test', () => {
  it('agree with the published example of Standard Webhooks', () => {
    const headers = signed(
      'msg_loFOjxBNrRLzqYUf',
      '{"event_type":"ping","data":{"success":true}}',
      [SECRET],
      1_731_705_121,
    );

    expect(headers['webhook-signature']).equal('v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=');
  });
});

describe('the webhook receiver', () => {
  let receiver: Receiver;

  async function start(options: ReceiverOptions = { secrets: [SECRET] }): Promise<void> {
    receiver = await startReceiver(options);
  }

  const post = (path: string, headers: Record<string, string> = signed('evt_1'), body = BODY) =>
    http(`${receiver.url}${path}`, 'POST', headers, body);
  const verdicts = () => receiver.received().map(({ signature }) => signature);

  afterEach(() => receiver.close());

  it('shows a signed webhook as valid, with its event, message and body', async () => {
    await start();

    const answer = await post('/webhook');

    expect(answer.status).equal(200);
    expect(receiver.received()[0]).include({
      path: '/webhook',
      id: 'evt_1',
      tries: 1,
      signature: 'valid',
      body: BODY,
      status: 200,
    });
    expect(receiver.received()[0]?.json).include({ event: 'message.delivered', message_id: 'msg_1' });
  });

  it('tells valid from forged, changed, old, unsigned', async () => {
    await start();

    await post('/a', signed('evt_1', BODY, [OTHER]));
    await post('/b', signed('evt_1'), BODY.replace('msg_1', 'msg_2'));
    await post('/c', signed('evt_1', BODY, [SECRET], Math.floor(Date.now() / 1000) - 3_600));
    await post('/d', { ...signed('evt_1'), 'webhook-id': 'evt_2' });
    await post('/e', {});
    await post('/f', { ...signed('evt_1'), 'webhook-signature': 'v1' });
    await post('/g', signed('evt_1', BODY, [OTHER, SECRET]));

    expect(verdicts()).deep.equal(['INVALID', 'INVALID', 'INVALID', 'INVALID', 'unsigned', 'INVALID', 'valid']);
  });

  it('trusts several secrets, one by its URL, one by PUT on that path alone', async () => {
    await start({ secrets: [] });

    await post('/early');
    receiver.trust(OTHER);
    await post('/all', signed('evt_1', BODY, [OTHER]));
    await post(`/url?secret=${encodeURIComponent(SECRET)}`);
    const told = await http(`${receiver.url}/told`, 'PUT', {}, SECRET);
    await post('/told');
    await post('/elsewhere');

    expect(told.status).equal(200);
    expect(verdicts()).deep.equal(['no secret', 'valid', 'valid', 'valid', 'INVALID']);
  });

  it('refuses what is no secret with 400', async () => {
    await start();

    expect((await http(`${receiver.url}/told`, 'PUT', {}, 'hello')).status).equal(400);
    expect((await post('/x?secret=hello')).status).equal(400);
    expect(() => receiver.trust('whsec_')).throw(RangeError);
  });

  it('counts how often each id came to each path', async () => {
    await start();

    for (const [path, id] of [
      ['/a', '1'],
      ['/a', '1'],
      ['/b', '1'],
      ['/a', '2'],
    ] as const)
      await post(path, signed(id));

    expect(receiver.received().map(({ tries }) => tries)).deep.equal([1, 2, 1, 1]);
  });

  for (const [path, status] of [
    ['/status/500', 500],
    ['/status/204', 204],
    ['/410', 410],
    ['/status/410/x', 410],
    ['/redirect', 302],
    ['/slow/30/status/503', 503],
    ['/status/abc', 200],
  ] as const) {
    it(`answers ${status} on ${path}`, async () => {
      await start();

      expect((await post(path)).status).equal(status);
      expect(receiver.received()[0]).include({ status });
    });
  }

  it('fails as often as /flaky says for each id, then takes it', async () => {
    await start();

    const statuses: number[] = [];
    for (const id of ['1', '1', '1', '2', '1']) statuses.push((await post('/flaky/2', signed(id))).status);

    expect(statuses).deep.equal([500, 500, 200, 500, 200]);
  });

  it('sends redirects, Retry-After and large bodies where the path says so', async () => {
    await start();

    expect((await post('/redirect')).headers).include({ location: '/redirected' });
    expect((await post('/status/503/retry-after/7')).headers).include({ 'retry-after': '7' });
    expect((await post('/big/100000')).body).length(100_000);
  });

  it('breaks the connection on /drop, and has the post all the same', async () => {
    await start();

    const error = await post('/drop').catch((reason: unknown) => reason);

    expect(error).include({ code: 'ECONNRESET' });
    expect(receiver.received()[0]).include({ status: 0, signature: 'valid' });
  });

  it('answers as a test plugs in', async () => {
    await start({ respond: ({ json }) => (json.message_id === 'msg_1' ? { status: 418 } : undefined) });

    expect((await post('/status/500')).status).equal(418);
    expect((await post('/status/500', {}, '{}')).status).equal(500);
  });

  it('shows the last 50 to a person, newest last, tries and forgeries in plain sight', async () => {
    await start();

    for (let at = 0; at < 51; at++) await post('/webhook', signed(`evt_${at}`));
    await post('/webhook', signed('evt_50'));
    await post('/webhook', signed('evt_51', BODY, [OTHER]));
    const page = await http(`${receiver.url}/`, 'GET');

    const lines = page.body.trimEnd().split('\n');
    expect(page.headers).include({ 'content-type': 'text/plain; charset=utf-8' });
    expect(lines).length(50);
    expect(lines.at(-3)).match(
      /^\d\d:\d\d:\d\d webhook message\.delivered msg_1 · signature valid · answered 200 · \{"event"/,
    );
    expect(lines.at(-2)).include('again (try 2)');
    expect(lines.at(-1)).include('SIGNATURE INVALID');
  });

  it('lets no webhook write to the terminal of who looks', async () => {
    await start();

    await post('/webhook', {}, '{"event":"\\u001b[2Jx"}\u001b[31m\nsecond line');
    const page = await http(`${receiver.url}/`, 'GET');

    expect(page.body).not.include('\u001b');
    expect(page.body.trimEnd().split('\n')).length(1);
  });

  it('gives everything as JSON, and more pages on demand', async () => {
    await start({ secrets: [SECRET], pages: { '/smsc': () => ({ here: true }) } });

    await post('/webhook');

    expect(JSON.parse((await http(`${receiver.url}/received`, 'GET')).body)).deep.equal(receiver.received());
    expect(JSON.parse((await http(`${receiver.url}/smsc`, 'GET')).body)).deep.equal({ here: true });
    expect((await http(`${receiver.url}/nothing`, 'GET')).status).equal(404);
  });

  it('keeps no more than it is told to, takes bodies that are no JSON, refuses those above a megabyte', async () => {
    await start({ keep: 2 });

    for (const body of ['1', '[2]', 'three']) await post('/', {}, body);
    const huge = await post('/', {}, 'x'.repeat(1_000_001));

    expect(receiver.received().map(({ body }) => body)).deep.equal(['[2]', 'three']);
    expect(receiver.received().map(({ json }) => json)).deep.equal([{}, {}]);
    expect(huge.status).equal(413);
  });
});
