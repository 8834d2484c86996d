import request from 'supertest';
import type { Contract } from '../../../../gateway/api/contract.ts';
import { PATHS_BELOW, renderPage } from '../../../../gateway/endpoints/docs/page.ts';
import { CODE_GROUPS } from '../../../../gateway/endpoints/messages/explain/explain.ts';
import { FIELD_CODES, PROBLEMS } from '../../../../gateway/http/problem.ts';
import { useGateway } from '../../../support/gateway.ts';
import { contract, operations } from '../../../support/openapi.ts';
import { useStore } from '../../../support/store.ts';

describe('GET /docs', () => {
  const store = useStore();
  const gateway = useGateway(store);
  let pages: readonly (readonly [path: string, html: string])[];
  before(async () => {
    pages = await Promise.all(
      ['/docs', ...PATHS_BELOW].map(async (path) => [path, (await request(gateway.url).get(path)).text] as const),
    );
  });

  it('200: pages for people, without a key', async () => {
    const { status, headers } = await request(gateway.url).get('/docs');

    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/html; charset=utf-8');
    for (const [path, html] of pages)
      expect(html, path).to.match(/^<!doctype html>.*<\/main><\/div><\/body><\/html>\n$/s);
  });

  it('200: compressed for who takes it, in a tenth of the bytes, and plain for others', async () => {
    const ask = (coding: string) => request(gateway.url).get('/docs').set('Accept-Encoding', coding);
    const [small, plain] = [await ask('gzip, br'), await ask('gzip;q=0')];

    expect(small.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(plain.headers).not.to.have.property('content-encoding');
    expect(small.text).to.equal(plain.text);
    expect(Number(small.headers['content-length']) * 5).to.be.lessThan(Number(plain.headers['content-length']));
  });

  it('has each operation on one page: those of customers, of operators and of machines apart', () => {
    for (const { path, operation } of operations) {
      const shown = pages.filter(([, html]) =>
        html.includes(`<section class="operation" id="${operation.operationId}"`),
      );
      expect(shown, path).to.have.length(1);
      expect(shown[0]?.[0], path).to.equal(
        path.startsWith('/v2/admin/') ? '/docs/operators' : path.startsWith('/v2/') ? '/docs' : '/docs/internal',
      );
      expect(shown[0]?.[1]).to.include(`<code>${path}</code>`);
    }
  });

  it('shows every event, problem and code of fields and messages', () => {
    const [[, html = ''] = []] = pages;

    for (const name of Object.keys(contract.webhooks)) expect(html).to.include(`id="event-${name}"`);
    for (const slug of Object.keys(PROBLEMS)) expect(html).to.include(`id="problem-${slug}"`);
    for (const code of Object.keys(FIELD_CODES)) expect(html).to.include(`id="field-${code}"`);
    for (const code of CODE_GROUPS.flatMap(({ codes }) => codes.flatMap((entry) => entry.codes))) {
      expect(html).to.include(`<code>${code}</code>`);
    }
  });

  it('has no link that leads nowhere, and no id twice', () => {
    const ids = new Map(pages.map(([path, html]) => [path, [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)]));
    for (const [path, html] of pages) {
      expect(new Set(ids.get(path)), path).to.have.property('size', ids.get(path)?.length);
      for (const [, page, id] of html.matchAll(/href="(\/docs[^"#]*)?#([^"]+)"/g)) {
        expect(ids.get(page ?? path), `${path} to ${page ?? ''}#${id}`).to.include(id);
      }
    }
  });

  it('loads nothing but its style and script from this host, and has none within it', async () => {
    const { headers } = await request(gateway.url).get('/docs');

    for (const [path, html] of pages) {
      expect(html, path).not.to.match(
        /<script>|<style|<img|<iframe|@import|url\(| on\w+=| style=|(src|href|action)=["']?https?:/,
      );
      expect(
        [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].filter(
          ([, to]) => !to?.startsWith('/dashboard/assets/'),
        ),
        path,
      ).to.be.empty;
    }
    expect(headers['content-security-policy']).to.equal(
      "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';form-action 'self';base-uri 'none';object-src 'none';frame-ancestors 'none'",
    );
    expect(headers['x-content-type-options']).to.equal('nosniff');
  });

  it('takes nothing of the contract as HTML', () => {
    const bad = '<b onclick="x">&\'';
    const hostile: Contract = { ...contract, info: { title: bad, summary: bad, description: bad } };

    const html = renderPage(hostile, '/docs', { head: '', changelog: '' });

    expect(html).not.to.include('<b onclick');
    expect(html).to.include('&lt;b onclick=&quot;x&quot;&gt;&amp;&#39;');
  });

  it('is where the `type` of a problem leads', async () => {
    for (const slug of Object.keys(PROBLEMS)) {
      const { status, headers } = await request(gateway.url).get(`/errors/${slug}`).redirects(0);
      expect([status, headers.location]).to.deep.equal([302, `/docs#problem-${slug}`]);
    }
    for (const slug of ['nothing', '__proto__', 'constructor']) {
      expect((await request(gateway.url).get(`/errors/${slug}`)).status).to.equal(404);
    }
  });

  it('GET /llms.txt names each page and each operation, by links that lead somewhere', async () => {
    const { status, text } = await request(gateway.url).get('/llms.txt');
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, to = '']) => to);
    const places = pages.flatMap(([path, html]) =>
      [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => `${path}#${id}`),
    );

    expect(status).to.equal(200);
    expect(links).to.include.members(
      operations.map(({ operation }) => places.find((place) => place.endsWith(`#${operation.operationId}`))),
    );
    expect(links.filter((to) => ![...places, '/openapi.json', '/docs', ...PATHS_BELOW].includes(to))).to.deep.equal([]);
  });

  it('GET /openapi.json is sent compressed to who takes it, and not at all to who has it', async () => {
    const ask = () => request(gateway.url).get('/openapi.json');
    const small = await ask().set('Accept-Encoding', 'gzip');
    const plain = await ask().set('Accept-Encoding', 'identity');

    expect(small.headers).to.include({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(small.text).to.equal(plain.text);
    expect(Number(small.headers['content-length']) * 5).to.be.lessThan(Number(plain.headers['content-length']));
    const tag = String(small.headers.etag);
    expect(plain.headers.etag).to.equal(tag);
    for (const known of [tag, `"other", ${tag}`, '*']) {
      const { status, headers, text } = await ask().set('If-None-Match', known);
      expect({ status, text, etag: headers.etag }).to.deep.equal({ status: 304, text: '', etag: tag });
    }
    expect((await ask().set('If-None-Match', '"other"')).status).to.equal(200);
  });

  it('GET /openapi.json is the document', async () => {
    const { status, headers, text } = await request(gateway.url).get('/openapi.json');

    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(JSON.parse(text)).to.deep.equal(contract);
  });
});
