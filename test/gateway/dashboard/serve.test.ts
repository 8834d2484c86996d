import request from 'supertest';
import { builtDashboard } from '../../support/dashboard.ts';
import { openGateway, type TestGateway } from '../../support/gateway.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('GET /dashboard', () => {
  let store: TestStore;
  let gateway: TestGateway;
  let html: string;
  before(async () => {
    await builtDashboard();
    store = await openTestStore();
    gateway = await openGateway(store.db);
    html = (await request(gateway.url).get('/dashboard')).text;
  });
  after(async () => {
    await gateway.close();
    await store.close();
  });

  it('answers every path of the client with the one page, which no cache keeps', async () => {
    for (const path of ['/dashboard', '/dashboard/', '/dashboard/keys', '/dashboard/messages/msg_1?state=failed']) {
      const { status, headers, text } = await request(gateway.url).get(path);

      expect(status, path).to.equal(200);
      expect(text, path).to.equal(html);
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers['cache-control']).to.equal('no-store');
    }
  });

  it('is where / leads a browser, and no program', async () => {
    const browser = await request(gateway.url).get('/').set('Accept', 'text/html,application/xhtml+xml');
    const program = await request(gateway.url).get('/');

    expect([browser.status, browser.headers.location]).to.deep.equal([302, '/dashboard']);
    expect(program.status).to.equal(404);
  });

  it('says in the page that nobody has signed in, when there is no cookie', async () => {
    const withCookie = await request(gateway.url).get('/dashboard').set('Cookie', 'harkara=ses_1.2');

    expect(html).to.include('<html data-nobody ');
    expect(withCookie.text).to.equal(html.replace(' data-nobody', ''));
  });

  it('allows files of the gateway and nothing inline, in no frame, and tells no other site where one was', async () => {
    const { headers } = await request(gateway.url).get('/dashboard/keys');

    expect(headers['content-security-policy']?.split(';')).to.have.members([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "object-src 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers['referrer-policy']).to.equal('no-referrer');
    expect(headers['x-content-type-options']).to.equal('nosniff');
    expect(html).not.to.match(/<style|<script>|\sstyle=|\son\w+=/);
  });

  it('serves what the page names, compressed for who takes that, to be kept for ever', async () => {
    const named = [...html.matchAll(/"(\/dashboard\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(new Set(named.map((path) => path.split('.').at(-1)))).to.have.keys('svg', 'css', 'js');

    for (const path of named) {
      const plain = await fetch(gateway.url + path, { headers: { 'Accept-Encoding': 'gzip;q=0, identity' } });
      const zipped = await fetch(gateway.url + path, { headers: { 'Accept-Encoding': 'br, gzip' } });

      expect(plain.status).to.equal(200);
      expect(plain.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(plain.headers.get('vary')).to.equal('Accept-Encoding');
      expect(plain.headers.get('content-encoding')).to.equal(null);
      expect(zipped.headers.get('content-encoding')).to.equal('gzip');
      expect(await zipped.text()).to.equal(await plain.text());
    }
  });

  it('answers HEAD, and 405 to what would change something', async () => {
    const head = await request(gateway.url).head('/dashboard');
    const post = await request(gateway.url).post('/dashboard/keys').send({});

    expect(head.status).to.equal(200);
    expect(post.status).to.equal(405);
    expect(post.headers.allow).to.equal('GET, HEAD');
  });

  it('does not find what was not built, nor anything outside its folder', async () => {
    for (const name of [
      'main.js',
      'index.html',
      '..%2findex.html',
      '..%2f..%2f..%2fpackage.json',
      '%2e%2e%2findex.html',
      '%00',
    ]) {
      const { status, body } = await request(gateway.url).get(`/dashboard/assets/${name}`);

      expect(status, name).to.equal(404);
      expect(body.code).to.equal('not_found');
    }
  });
});
