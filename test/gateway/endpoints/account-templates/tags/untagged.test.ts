import { expect } from 'chai';
import request from 'supertest';
import { createSender } from '../../../../../shared/carriers/sender-store.ts';
import type { MessageDocument } from '../../../../../shared/messages/document/message.ts';
import { systemClock } from '../../../../../shared/platform/runtime/clock.ts';
import { importTemplateCsv } from '../../../../../shared/templates/sms/export/import-csv.ts';
import { createTemplate, findTemplate } from '../../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../../shared/templates/sms/make.ts';
import { accountAtGateway } from '../../../../support/account-gateway.ts';
import { makeKey } from '../../../../support/gateway.ts';
import { signedIn } from '../../../../support/signed-in.ts';

const OLD = '1107160000000000001';
const NEW = '1107170000000000002';
const PATH = '/v2/account/untagged-templates';

describe('templates that still have {#var#}', () => {
  const site = accountAtGateway(50, { keyCacheMs: 0, textDays: 30 });
  const get = (path: string) => request(site.url).get(path).set('Authorization', `Bearer ${site.key}`);

  async function sendCode(code: string): Promise<MessageDocument | null> {
    const { body, status } = await request(site.url)
      .post('/v2/send')
      .set('Authorization', `Bearer ${site.key}`)
      .send({ to: '919876543210', sender: 'HARKRA', message: `Your code is ${code}.` });
    expect(status, JSON.stringify(body)).to.equal(200);
    return site.db.collection<MessageDocument>('messages').findOne({ _id: body.message_id });
  }

  beforeEach(async () => {
    const { db, account } = site;
    await db
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: account }, { $set: { dlt: 'on', entityId: '1101160000000000009' } });
    await createSender(db, systemClock, {
      ...{ account, sender: 'HARKRA', routes: ['transactional'], status: 'approved' },
    });
    const content = 'Your code is {#var#}.';
    await createTemplate(db, systemClock, account, makeTemplate({ dltId: OLD, name: 'Login code', content }));
  });

  it('are examined by what was sent, exported, and replaced by what comes back from the portal', async () => {
    const { db, account } = site;
    for (const code of ['4711', '081512', '99', 'A 4711']) expect(await sendCode(code)).to.include({ template: OLD });

    const { body: list } = await get(PATH).expect(200);
    expect(list).to.deep.include({ total: 1, replaced: 0 });
    expect(list.data[0]).to.include({ template_id: OLD, state: 'open', untagged_slots: 1, replaced_by: null });

    const { body: strict } = await get(`${PATH}/${OLD}`).expect(200);
    expect(strict.slots[0]).to.include({ number: 1, tag: 'alphanumeric' });
    expect(strict).to.include({ messages: 4, known_days: 30, refused: 0 });
    const { body: found } = await get(`${PATH}/${OLD}?percent=75`).expect(200);
    expect(found).to.include({ tagged_content: 'Your code is {#numeric#}.', refused: 1, text_shown: 'whole' });
    expect(found.slots[0].takes).to.include({ numeric: 3, alphanumeric: 4 });
    expect(found.examples[0]).to.deep.include({ text: 'Your code is A 4711.', slots: [1] });
    const { body: masked } = await request(site.url)
      .get(`${PATH}/${OLD}?percent=75`)
      .set((await signedIn(db, 'viewer', account)).headers)
      .expect(200);
    expect(masked.examples[0].text).to.equal('Your code is A ••••.');

    const { text: file } = await get(`${PATH}?format=csv&percent=75`).expect(200);
    const portal = file
      .replace('Template Name', 'Template ID,Status,Template Name')
      .replace('Login code', `${NEW},Approved,Login code`);
    const imported = await importTemplateCsv(db, systemClock, { _id: account }, new TextEncoder().encode(portal));
    expect(imported).to.deep.include({ kind: 'imported', badRows: 0, created: [NEW], known: [] });
    expect(await findTemplate(db, account, NEW)).to.deep.include({
      ...{ name: 'Login code', content: 'Your code is {#numeric#}.', routes: ['transactional'], senders: ['HARKRA'] },
    });

    expect(await sendCode('5522')).to.include({ template: NEW });
    expect(await sendCode('B 12')).to.include({ template: OLD });
    const { body: after } = await get(PATH).expect(200);
    expect(after).to.deep.include({ total: 0, replaced: 1 });
    expect(after.data[0]).to.include({ state: 'replaced', replaced_by: NEW });
    await get(`${PATH}/${NEW}`).expect(404);
  });

  it('show nobody the code of a verification in their examples', async () => {
    const { db, account } = site;
    await sendCode('4711');
    const otp = await makeKey(db, account, ['send', 'otp']);
    const { body } = await request(site.url)
      .post('/v2/verify')
      .set('Authorization', `Bearer ${otp}`)
      .send({ to: '919876543210', sender: 'HARKRA', message: 'Your code is H-{code}.' })
      .expect(200);

    const { body: found } = await get(`${PATH}/${OLD}?percent=50`).expect(200);

    expect(found).to.include({ messages: 2, refused: 1, text_shown: 'whole' });
    expect(found.examples).to.deep.equal([{ message_id: body.message_id, slots: [1], text: 'Your code is H-••••••.' }]);
  });
});
