import { type IncomingMessage, get as openFile } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Binary } from 'mongodb';
import request from 'supertest';
import type { ExportDocument } from '../../../../gateway/endpoints/exports/run.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { AuditDocument } from '../../../../shared/people/audit.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';

describe('exports of messages', () => {
  const site = accountAtGateway(10);
  const bearer = () => ({ Authorization: `Bearer ${site.key}` });
  const start = (body: object) => request(site.url).post('/v2/account/exports').set(bearer()).send(body);
  const get = (path: string) => request(site.url).get(`/v2/account/exports${path}`).set(bearer());
  const exports = () => site.db.collection<ExportDocument>('exports');
  const ended = (id: string) =>
    eventually(async () => (await get(`/${id}`)).body.state === 'done', 'the export is made');
  const put = (count: number, more: Partial<MessageDocument> = {}) =>
    site.db
      .collection<MessageDocument>('messages')
      .insertMany(
        Array.from({ length: count }, () => makeMessage({ _id: newId('msg'), account: site.account, ...more })),
      );

  it('are files of what fits the filter, of that account alone, without texts', async () => {
    await put(1_200, { state: 'failed', errorCode: '1', reference: '=cmd()' });
    await put(30);
    await put(5, { account: await makeAccount(site.db, 0), state: 'failed' });

    const { body } = await start({ state: 'failed' }).expect(200);
    expect(body).to.include({ status: 'success', complete: true });
    await ended(body.export_id);

    const file = await get(`/${body.export_id}/file`).expect(200);
    const lines = file.text.trim().split('\r\n');
    expect(lines).to.have.lengthOf(1_201);
    expect(lines[0]).to.match(/^message_id,created_at,channel,direction,to,/);
    expect(lines[1])
      .to.include("'=cmd()")
      .and.not.include(makeMessage({ account: site.account }).text);
    expect((await get(`/${body.export_id}`)).body).to.include({ state: 'done', progress: 1, rows: 1_200 });
  });

  it('stand in the audit with what was asked for, without the number', async () => {
    await start({ to: '919876501234', state: 'failed' }).expect(200);

    const entry = await site.db
      .collection<AuditDocument>('audit')
      .findOne({ action: 'messages.export', 'after.to': { $exists: true } });
    expect(entry?.after).to.include({ to: '9198******34', state: 'failed' });
  });

  it('are three at a time, and one that is removed makes room', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await start({}).expect(200)).body.export_id);
    expect((await start({}).expect(403)).body).to.include({ code: 'quota_reached', quota: 'exports' });

    const reader = { Authorization: `Bearer ${await makeKey(site.db, site.account, ['read'])}` };
    await request(site.url).delete(`/v2/account/exports/${ids[0]}`).set(reader).expect(403);
    await request(site.url).delete(`/v2/account/exports/${ids[0]}`).set(bearer()).expect(200);
    await start({}).expect(200);
    expect((await get('')).body.exports).to.have.lengthOf(3);
    await get(`/${ids[0]}/file`).expect(404);
  });

  it('take turns: the long ones of one account do not keep those of others waiting', async () => {
    await put(15_000);
    const long: string[] = [];
    for (let n = 0; n < 3; n++) long.push((await start({}).expect(200)).body.export_id);
    const other = await makeAccount(site.db, 0);
    const its = { Authorization: `Bearer ${await makeKey(site.db, other, ['read'])}` };
    const { body } = await request(site.url).post('/v2/account/exports').set(its).send({}).expect(200);

    await eventually(
      async () => (await exports().findOne({ _id: body.export_id }))?.state === 'done',
      'the short file is made',
    );
    expect(await exports().countDocuments({ account: site.account, state: 'done' })).to.equal(0);
    await ended(long[0] ?? '');
    expect((await get(`/${long[0]}`)).body.rows).to.equal(15_000);
  });

  it("go on at their cursor when their process died; nobody sees another account's", async () => {
    await put(3);
    const [first] = await site.db
      .collection<MessageDocument>('messages')
      .find({ account: site.account })
      .sort({ _id: -1 })
      .toArray();
    const { body } = await start({}).expect(200);
    await ended(body.export_id);
    const piece = { bytes: new Binary(gzipSync('kept\r\n')) };
    await site.db.collection('export_pieces').updateOne({ _id: `${body.export_id}:000000` as never }, { $set: piece });
    const died = {
      state: 'running' as const,
      cursor: first?._id,
      rows: 1,
      pieces: 1,
      at: new Date(Date.now() - 60_000),
    };
    await exports().updateOne({ _id: body.export_id }, { $set: died as Partial<ExportDocument> });

    await get(`/${body.export_id}/file`).expect(409);
    await ended(body.export_id);

    const { text } = await get(`/${body.export_id}/file`).expect(200);
    expect(text.trim().split('\r\n').slice(1)[0]).to.equal('kept');
    expect(text.trim().split('\r\n')).to.have.lengthOf(4);
    const other = await makeKey(site.db, await makeAccount(site.db, 0), ['read']);
    for (const path of ['', '/file']) {
      await request(site.url)
        .get(`/v2/account/exports/${body.export_id}${path}`)
        .set('Authorization', `Bearer ${other}`)
        .expect(404);
    }
  });

  it('are downloaded four at a time by one account in a process', async () => {
    const { body } = await start({}).expect(200);
    await ended(body.export_id);
    const bytes = new Binary(gzipSync('x'.repeat(1_048_576)));
    const numbers = Array.from({ length: 30 }, (_, number) => String(number).padStart(6, '0'));
    const pieces = numbers.map((number) => ({ _id: `${body.export_id}:${number}` as never, bytes }));
    await site.db.collection('export_pieces').insertMany(pieces);
    await exports().updateOne({ _id: body.export_id }, { $set: { pieces: pieces.length } });
    const address = `${site.url}/v2/account/exports/${body.export_id}/file`;
    const open = () =>
      new Promise<IncomingMessage>((resolve, reject) => {
        openFile(address, { headers: bearer() }, resolve).on('error', reject);
      });

    const unread = await Promise.all([open(), open(), open(), open()]);

    expect(unread.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200, 200, 200]);
    expect((await get(`/${body.export_id}/file`).expect(429)).body).to.include({ code: 'too_many_files' });
    for (const one of unread) one.destroy();
    await eventually(
      async () => (await request(site.url).head(new URL(address).pathname).set(bearer())).ok,
      'room again',
    );
  });
});
