import { createHash } from 'node:crypto';
import { expect } from 'chai';
import request from 'supertest';
import type { Contract } from '../../../gateway/docs/contract.ts';
import { renderPage } from '../../../gateway/docs/page.ts';
import { FIELD_CODES } from '../../../gateway/http/field-codes.ts';
import { PROBLEMS } from '../../../gateway/http/problem.ts';
import { openGateway, type TestGateway } from '../../support/gateway.ts';
import { contract, contractText, operations } from '../../support/openapi.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('GET /docs', () => {
  let store: TestStore;
  let gateway: TestGateway;
  let answer: request.Response;
  before(async () => {
    store = await openTestStore();
    gateway = await openGateway(store.db);
    answer = await request(gateway.url).get('/docs');
  });
  after(async () => {
    await gateway.close();
    await store.close();
  });

  it('200: a page for people, without a key', () => {
    expect(answer.status).to.equal(200);
    expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(answer.text).to.match(/^<!doctype html>/);
  });

  it('shows every operation, problem and field code', () => {
    for (const { path, operation } of operations) {
      expect(answer.text).to.include(`id="${operation.operationId}"`);
      expect(answer.text).to.include(path);
    }
    for (const slug of Object.keys(PROBLEMS)) expect(answer.text).to.include(`id="problem-${slug}"`);
    for (const code of Object.keys(FIELD_CODES)) expect(answer.text).to.include(`<code>${code}</code>`);
  });

  it('has no link that leads nowhere', () => {
    for (const [, id] of answer.text.matchAll(/href="#([^"]+)"/g)) expect(answer.text).to.include(`id="${id}"`);
  });

  it('loads nothing from anywhere, and its policy allows its one style alone', () => {
    const [, style = ''] = /<style>(.*)<\/style>/s.exec(answer.text) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');

    expect(answer.text).not.to.match(
      /<script|<link|<img|<iframe|@import|url\(| on\w+=| style=|(src|href|action|content)=["']?https?:/,
    );
    expect(answer.headers['content-security-policy']).to.equal(
      `default-src 'none';frame-ancestors 'none';style-src 'sha256-${hash}'`,
    );
    expect(answer.headers['x-content-type-options']).to.equal('nosniff');
  });

  it('takes nothing of the contract as HTML', () => {
    const bad = '<b onclick="x">&\'';
    const hostile: Contract = { ...contract, info: { title: bad, description: bad } };

    const html = renderPage(hostile);

    expect(html).not.to.include('<b onclick');
    expect(html).to.include('&lt;b onclick=&quot;x&quot;&gt;&amp;&#39;');
  });

  it('GET /openapi.json is the file', async () => {
    const { status, headers, text } = await request(gateway.url).get('/openapi.json');

    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('application/json; charset=utf-8');
    expect(text).to.equal(contractText);
  });
});
