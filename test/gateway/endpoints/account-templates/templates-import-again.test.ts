import request from 'supertest';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { importTemplates } from '../../../../shared/templates/sms/import-store.ts';
import { createTemplate, findTemplate } from '../../../../shared/templates/sms/store.ts';
import type { NewTemplate } from '../../../../shared/templates/sms/template.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { eventually } from '../../../support/eventually.ts';

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
