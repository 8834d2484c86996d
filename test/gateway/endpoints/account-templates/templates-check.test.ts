import request from 'supertest';
import { findTemplate } from '../../../../shared/templates/sms/store.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/account/templates';
const ID = '1107160000000012345';

describe('a template is checked while it is typed, and an export before it is imported', () => {
  const site = accountAtGateway(10);
  let manager = '';
  beforeEach(async () => {
    manager = await makeKey(site.db, site.account, ['read', 'manage']);
  });
  const post = (path: string, body: object, key = manager) =>
    request(site.url).post(`${PATH}/${path}`).set('Authorization', `Bearer ${key}`).send(body);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const rows = `id,header,content,status\n${ID},HARKRA,Bye {#var#},Approved\n12,HARKRA,short,Approved\n`;

  it('check: slots, length, segments, encoding', async () => {
    const { body } = await post('check', { content: 'Your code is {#var#}, at {#url#}.' }).expect(200);

    expect(body.slots).to.deep.equal([
      { type: 'var', takes: 'any text', longest: 30 },
      { type: 'url', takes: 'a web address', longest: 120 },
    ]);
    expect(body).to.deep.include({ encoding: 'GSM7', units: { shortest: 20, longest: 169 }, problems: [] });
    expect(body.segments).to.deep.equal({ shortest: 1, longest: 2 });
    expect((await post('check', { content: 'नमस्ते {#var#}' }).expect(200)).body).to.include({ encoding: 'UCS2' });
  });

  it('check: an unfinished text is explained, not refused', async () => {
    const { body } = await post('check', { content: 'Hi {#va' }).expect(200);
    expect(body.problems).to.deep.equal([
      { at: 4, detail: `At character 4: ${body.problems[0].detail.slice('At character 4: '.length)}` },
    ]);
    expect((await post('check', { content: '' }).expect(200)).body.problems).to.have.length(1);
    expect((await post('check', { content: 'x'.repeat(2_001) }).expect(200)).body.problems).to.have.length(1);
    expectProblem(await post('check', {}), 'invalid_request');
  });

  it('import: the dry run shows new ones and bad rows, and does nothing', async () => {
    const { body } = await post('import', { file: [base64(rows)], dry_run: true }).expect(200);

    expect(body).to.deep.include({ dry_run: true, imported: 1, known: 0, templates: [ID], bad_rows_count: 1 });
    expect(body.bad_rows[0].line).to.equal(3);
    expect(body.unusable_senders).to.deep.equal([{ sender: 'HARKRA', rows: 1, status: 'not registered' }]);
    expect(await findTemplate(site.db, site.account, ID)).to.equal(undefined);
  });

  it('import: nothing with a bad row, else all; and none is approved, whatever the file says', async () => {
    const refused = await post('import', { file: [base64(rows)] });
    expectProblem(refused, 'invalid_request');
    const { body } = refused;
    expect(body.errors[0]).to.include({ field: 'file' });
    expect(body.errors[0].detail).to.match(/^Line 3: /);

    const done = await post('import', { file: [base64(rows)], skip_bad: true }).expect(200);
    expect(done.body).to.include({ imported: 1, bad_rows_count: 1 });
    expect(await findTemplate(site.db, site.account, ID)).to.include({ status: 'submitted', requested: true });
    const again = await post('import', { file: [base64(rows)], skip_bad: true }).expect(200);
    expect(again.body).to.include({ imported: 0, known: 1 });
  });

  it('import: what is no export, no base64, or too large', async () => {
    const large = Array.from({ length: 53 }, () => base64('x'.repeat(20_000)));
    for (const file of [[base64('hello')], ['ü'], [], [base64('x'.repeat(24_600))], large]) {
      const refused = await post('import', { file });
      expectProblem(refused, 'invalid_request');
      const { body } = refused;
      expect(body.errors[0].field).to.match(/^file/);
    }
    const reader = await makeKey(site.db, site.account, ['read']);
    expectProblem(await post('import', { file: [base64(rows)] }, reader), 'scope_missing');
  });
});
