import request from 'supertest';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { importTemplates } from '../../../../shared/templates/sms/import-csv.ts';
import { rejectTemplateRequest } from '../../../../shared/templates/sms/request-store.ts';
import { createTemplate, decideTemplate, findTemplate } from '../../../../shared/templates/sms/store.ts';
import type { NewTemplate } from '../../../../shared/templates/sms/template.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

const PATH = '/v2/account/templates';
const ID = '1107160000000012345';
const GOOD = {
  name: 'Login code',
  senders: ['HARKRA'],
  category: 'service_implicit',
  content: 'Your code is {#var#}.',
};

describe('an account asks for DLT templates', () => {
  const site = accountAtGateway(10);
  let manager = '';
  beforeEach(async () => {
    manager = await makeKey(site.db, site.account, ['send', 'read', 'manage']);
  });
  const as = (call: request.Test, key = manager): request.Test => call.set('Authorization', `Bearer ${key}`);
  const list = (query = '') => as(request(site.url).get(`${PATH}${query}`));
  const ask = (body: object, key?: string) => as(request(site.url).post(PATH).send(body), key);
  const change = (id: string, body: object, key?: string) =>
    as(request(site.url).patch(`${PATH}/${id}`).send(body), key);
  const remove = (id: string, key?: string) => as(request(site.url).delete(`${PATH}/${id}`), key);
  const decide = (status: 'approved' | 'rejected', reason?: string) =>
    decideTemplate(site.db, systemClock, site.account, ID, status, reason);

  it('with its id, it waits for an operator; texts of it match nothing before', async () => {
    const { body } = await ask({ ...GOOD, dlt_id: ID }).expect(200);

    expect(body).to.include({ status: 'success', template_id: ID, dlt_id: ID, state: 'submitted', reason: null });
    expect(body).to.deep.include({ routes: ['transactional'], senders: ['HARKRA'], category: 'service_implicit' });
    const { status: _, ...entry } = body;
    expect((await list().expect(200)).body).to.deep.equal({ data: [entry], next_cursor: null, has_more: false });
    const { body: approved } = await as(request(site.url).get('/v2/templates')).expect(200);
    expect(approved.templates).to.deep.equal([]);
  });

  it('an id that has not 19 digits is warned of', async () => {
    const { body } = await ask({ ...GOOD, dlt_id: '110716000000' }).expect(200);

    expect(body.warnings).to.deep.equal([
      'The template id 110716000000 has 12 digits; those of the DLT platform have 19. Compare it with the platform.',
    ]);
  });

  it('without an id it waits for one, and then for an operator', async () => {
    const { body } = await ask(GOOD).expect(200);
    expect(body).to.include({ state: 'requested', dlt_id: null });
    expect(body.template_id).to.match(/^tpr_/);

    const { body: named } = await change(body.template_id, { dlt_id: ID }).expect(200);

    expect(named).to.include({ template_id: ID, state: 'submitted', name: 'Login code', version: body.version });
    expect((await list().expect(200)).body.data).to.have.length(1);
    // A client without an answer asks again, but the template request is a template by then.
    expectProblem(await change(body.template_id, { dlt_id: ID }), 'template_not_found');
  });

  it('an id that the account has is refused, and the request goes on waiting', async () => {
    await ask({ ...GOOD, dlt_id: ID }).expect(200);
    const { body } = await ask({ ...GOOD, content: 'Bye {#var#}' }).expect(200);

    expectProblem(await change(body.template_id, { dlt_id: ID }), 'template_exists');
    expect((await list('?state=requested').expect(200)).body.data).to.have.length(1);
    expectProblem(await ask({ ...GOOD, content: 'Other', dlt_id: ID }), 'template_exists');
    await ask({ ...GOOD, dlt_id: ID }).expect(200);
  });

  it('a request is repeated by its Idempotency-Key, and made once', async () => {
    const twice = [1, 2].map(() => as(request(site.url).post(PATH).set('Idempotency-Key', 'one').send(GOOD)));
    const [first, second] = [await twice[0], await twice[1]];

    expect(second?.body).to.deep.equal(first?.body);
    expect((await list().expect(200)).body.data).to.have.length(1);
  });

  it('a rejected one shows the reason, is edited and waits again; an approved one never gets another text', async () => {
    await ask({ ...GOOD, dlt_id: ID }).expect(200);
    expectProblem(await change(ID, { content: 'New {#var#}' }), 'template_not_editable');
    await decide('rejected', 'The header is not yours.');
    const { body: shown } = await list('?state=rejected').expect(200);
    expect(shown.data[0]).to.include({ state: 'rejected', reason: 'The header is not yours.' });

    const { body } = await change(ID, { content: 'New {#var#}', category: 'promotional' }).expect(200);
    expect(body).to.include({ state: 'submitted', reason: null, content: 'New {#var#}' });
    expect(body.routes).to.deep.equal(['promotional']);

    await decide('approved');
    await decide('rejected', 'Withdrawn.');
    expectProblem(await change(ID, { content: 'Anything else' }), 'template_not_editable');
    const { body: removed } = await remove(ID).expect(200);
    expect(removed).to.include({ removed: false });
    expect(await findTemplate(site.db, site.account, ID)).to.include({ status: 'rejected', content: 'New {#var#}' });
  });

  it('a rejected request without an id is edited as well', async () => {
    const { body } = await ask(GOOD).expect(200);
    await rejectTemplateRequest(site.db, systemClock, site.account, body.template_id, 'No such header.');

    const { body: edited } = await change(body.template_id, { senders: ['HARKAR'] }).expect(200);

    expect(edited).to.include({ state: 'requested', reason: null });
    expect(edited.senders).to.deep.equal(['HARKAR']);
  });

  it('an approval names the text that was read: another one in its place is not approved', async () => {
    await ask({ ...GOOD, dlt_id: ID }).expect(200);
    const read = await findTemplate(site.db, site.account, ID);
    await remove(ID).expect(200);
    await ask({ ...GOOD, content: 'You have won {#var#}', dlt_id: ID }).expect(200);

    expect(await decideTemplate(site.db, systemClock, site.account, ID, 'approved', undefined, read)).to.equal(
      'changed',
    );
    expect(await findTemplate(site.db, site.account, ID)).to.include({ status: 'submitted' });
  });

  it('DELETE takes a request back; what an operator made is withdrawn and stays', async () => {
    const { body } = await ask(GOOD).expect(200);
    await remove(body.template_id).expect(200);
    const made = {
      dltId: ID,
      name: 'x',
      senders: ['HARKRA'],
      routes: ['transactional'] as const,
      content: 'Hi {#var#}',
    };
    await createTemplate(site.db, systemClock, site.account, { ...made, status: 'approved' });

    expect((await remove(ID).expect(200)).body).to.include({ removed: false, template_id: ID });

    expect((await list().expect(200)).body.data).to.have.length(1);
    expect(await findTemplate(site.db, site.account, ID)).to.include({ status: 'rejected' });
    expectProblem(await remove('1107160000000099999'), 'template_not_found');
  });

  it('DELETE of what was just decided about: 409 until that is announced, and it stays as it was', async () => {
    const { body } = await ask(GOOD).expect(200);
    await rejectTemplateRequest(site.db, systemClock, site.account, body.template_id, 'No such header.');
    await ask({ ...GOOD, dlt_id: ID }).expect(200);
    await decide('rejected', 'Not yours.');
    await change(ID, { content: 'New {#var#}' }).expect(200);
    const { body: before } = await list().expect(200);

    for (const id of [body.template_id, ID]) expectProblem(await remove(id), 'template_not_editable');

    expect((await list().expect(200)).body).to.deep.equal(before);
    for (const name of ['templates', 'template_requests']) {
      await site.db.collection(name).updateMany({ account: site.account }, { $set: { unannounced: [] } }); // announced
    }
    for (const id of [body.template_id, ID]) {
      expect((await remove(id).expect(200)).body).to.include({ removed: true });
    }
  });

  it('lists requests first, then the others by id, in pages', async () => {
    const ids = ['1107160000000000001', '1107160000000000002', '1107160000000000003'];
    for (const dlt_id of ids) await ask({ ...GOOD, dlt_id }).expect(200);
    const requests = [await ask(GOOD).expect(200), await ask(GOOD).expect(200)].map(({ body }) => body.template_id);

    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${cursor}`;
      const { body } = await list(query).expect(200);
      seen.push(...body.data.map((one: { template_id: string }) => one.template_id));
      cursor = body.next_cursor;
    }

    expect(seen).to.deep.equal([...requests.reverse(), ...ids]);
  });

  it('names every field that is wrong, and each fault of the text', async () => {
    const bad = { senders: ['@'], category: 'other', content: 'Hi {#VAR#} {#nope#}', dlt_id: '12', colour: 'red' };

    const refused = await ask(bad);
    expectProblem(refused, 'invalid_request');
    const { body } = refused;

    const fields = body.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.have.members(['colour', 'senders[0]', 'category', 'dlt_id', 'content', 'content']);
    expectProblem(await list('?state=open'), 'invalid_request');
    expectProblem(await change(`tpr_${'0'.repeat(26)}`, {}), 'template_not_found');
  });

  it('another account and a key that may only read see 404 and 403', async () => {
    const { body } = await ask(GOOD).expect(200);
    await ask({ ...GOOD, dlt_id: ID }).expect(200);
    const stranger = await makeKey(site.db, await makeAccount(site.db, 0), ['read', 'manage']);
    const reader = await makeKey(site.db, site.account, ['read']);

    for (const id of [body.template_id, ID]) {
      expectProblem(await change(id, { dlt_id: '1107160000000000009' }, stranger), 'template_not_found');
      expectProblem(await remove(id, stranger), 'template_not_found');
      expectProblem(await change(id, { dlt_id: ID }, reader), 'scope_missing');
      expectProblem(await remove(id, reader), 'scope_missing');
    }
    expectProblem(await ask(GOOD, reader), 'scope_missing');
    expect((await as(request(site.url).get(PATH), stranger).expect(200)).body.data).to.deep.equal([]);
    expect((await as(request(site.url).get(PATH), reader).expect(200)).body.data).to.have.length(2);
  });

  it('an import by an operator and requests of the account go side by side', async () => {
    const known = {
      dltId: ID,
      name: 'x',
      senders: ['HARKRA'],
      routes: ['transactional'] as const,
      content: 'Hi',
      status: 'approved',
    } as const;
    await importTemplates(site.db, systemClock, site.account, [known]);

    expectProblem(await ask({ ...GOOD, dlt_id: ID }), 'template_exists');
  });
});

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

const A = '1107160000000000011';
const B = '1107160000000000012';
const C = '1107160000000000013';

describe('an export that is imported again', () => {
  const site = accountAtGateway(10);
  const approve = (more: Partial<NewTemplate> & Pick<NewTemplate, 'dltId'>) =>
    createTemplate(site.db, systemClock, site.account, makeTemplate({ content: 'Hi {#var#}', ...more }));
  const post = (rows: readonly string[], more: object = {}) =>
    request(site.url)
      .post('/v2/account/templates/import')
      .set('Authorization', `Bearer ${site.key}`)
      .send({ file: [Buffer.from(['id,header,content,status', ...rows].join('\r\n')).toString('base64')], ...more })
      .expect(200);
  const stored = (dltId: string) => findTemplate(site.db, site.account, dltId);

  it('names what the file says otherwise, row by row, and changes nothing', async () => {
    for (const dltId of [A, B, C]) await approve({ dltId });

    const { body } = await post([
      `${A},HARKRA,Hi {#var#},Approved`,
      `${B},HARKRA,Bye {#var#},`,
      `${C},"HARKRA,ACMEBK",Hi {#var#},Blacklisted`,
    ]);

    expect(body).to.deep.include({
      imported: 0,
      known: 3,
      changed_count: 2,
      updated: 0,
      still_sent: [C],
      still_sent_count: 1,
    });
    expect(body.changed).to.deep.equal([
      {
        line: 3,
        template_id: B,
        changes: [
          { field: 'status', old: 'approved', new: 'submitted' },
          { field: 'content', old: 'Hi {#var#}', new: 'Bye {#var#}' },
        ],
      },
      {
        line: 4,
        template_id: C,
        changes: [
          { field: 'status', old: 'approved', new: 'rejected' },
          { field: 'senders', old: 'HARKRA', new: 'HARKRA, ACMEBK' },
        ],
      },
    ]);
    expect(await stored(B)).to.include({ content: 'Hi {#var#}', status: 'approved' });
    expect(await stored(C)).to.include({ status: 'approved' });
  });

  it('a blacklisted one is sent no more with `update`, and webhooks are told', async () => {
    await approve({ dltId: A });

    const { body } = await post([`${A},HARKRA,Hi {#var#},BLACKLISTED`], { update: true });

    expect(body).to.deep.include({ updated: 1, changed_count: 1, still_sent: [] });
    const after = await stored(A);
    expect(after).to.include({ status: 'rejected', reason: 'The DLT platform says: BLACKLISTED' });
    expect(after?.unannounced?.map(({ event }) => event)).to.deep.equal(['rejected']);
    expect((await post([`${A},HARKRA,Hi {#var#},BLACKLISTED`])).body).to.include({ changed_count: 0 });
  });

  it('another text waits for an operator, who must name it, and the account cannot take back what was approved', async () => {
    await approve({ dltId: A });

    await post([`${A},HARKRA,Bye {#var#},Approved`], { update: true });

    expect(await stored(A)).to.deep.include({ content: 'Bye {#var#}', status: 'submitted', requested: true });
    const removed = await request(site.url)
      .delete(`/v2/account/templates/${A}`)
      .set('Authorization', `Bearer ${site.key}`);
    expect(removed.body).to.include({ removed: false });
    expect(await stored(A)).to.include({ status: 'rejected' });
  });

  it('a file that calls a template approved approves none', async () => {
    await importTemplates(site.db, systemClock, site.account, [
      makeTemplate({ dltId: A, content: 'Hi', status: 'submitted' }),
      makeTemplate({ dltId: B, content: 'Hi', status: 'rejected' }),
    ]);

    const { body } = await post([`${A},HARKRA,Hi,Approved`, `${B},HARKRA,Hi,Approved`], { update: true });

    expect(body.changed).to.deep.equal([
      { line: 3, template_id: B, changes: [{ field: 'status', old: 'rejected', new: 'submitted' }] },
    ]);
    expect([(await stored(A))?.status, (await stored(B))?.status]).to.deep.equal(['submitted', 'submitted']);
  });

  it('the dry run of an update says what it would change', async () => {
    await approve({ dltId: A });

    const { body } = await post([`${A},HARKRA,Hi {#var#},Suspended`], { update: true, dry_run: true });

    expect(body).to.deep.include({ dry_run: true, changed_count: 1, updated: 0, still_sent: [A] });
    expect(await stored(A)).to.include({ status: 'approved' });
  });

  it('line breaks of another form are no change, unless the account wants them exact', async () => {
    await approve({ dltId: A, content: 'Hi\n{#var#}' });
    const rows = [`${A},HARKRA,"Hi\r\n{#var#}",Approved`];

    expect((await post(rows)).body).to.include({ changed_count: 0 });
    await site.db
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: site.account }, { $set: { lineBreaks: 'exact' } });
    await eventually(async () => (await post(rows)).body.changed_count === 1, 'the new setting is seen');
  });
});
