import type { Db } from 'mongodb';
import request from 'supertest';
import { decideSender } from '../../../shared/carriers/sender.ts';
import { QUOTAS, type Quota } from '../../../shared/money/accounts/quotas.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { type ChatTemplateRequestDocument, chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import { rejectTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { decideTemplate } from '../../../shared/templates/sms/store.ts';
import {
  type TemplateDocument,
  type TemplateRequestDocument,
  templateKey,
} from '../../../shared/templates/sms/template.ts';
import { accountAtGateway } from '../../support/account-gateway.ts';
import { makeProvider, ownerOf } from '../../support/chatapp.ts';
import { makeKey, openGateway, TEST_CONFIG } from '../../support/gateway.ts';
import { expectProblem } from '../../support/problem.ts';
import { use } from '../../support/use.ts';

type Body = Readonly<Record<string, unknown>>;

/** Simultaneous requests, over both gateways. */
const AT_ONCE = 24;
/** Free places before them. */
const ROOM = 7;

const ABOUT = { name: 'Order', senders: ['HARKRA'], routes: ['transactional'], content: 'Order {#var#}.' } as const;
const dltId = (n: number): string => String(1_107_160_000_000_000 + n);

describe('quotas of an account', () => {
  const site = accountAtGateway(100);
  const second = use(() => openGateway(site.db, { config: TEST_CONFIG }));

  const ask = (url: string, method: 'post' | 'patch' | 'delete', path: string, body?: Body) =>
    request(url)[method](`/v2/account/${path}`).set('Authorization', `Bearer ${site.key}`).send(body);
  const post = (path: string, body: Body) => ask(site.url, 'post', path, body);

  /** The number of simultaneous requests that got 200. All others must get `quota_reached` with advice. */
  async function race(quota: Quota, path: string, bodyOf: (n: number) => Body): Promise<number> {
    const urls = [site.url, second.url];
    // Several keys, so that no rate limit interferes.
    const keys = await Promise.all(urls.map(() => makeKey(site.db, site.account, ['send', 'read', 'manage'])));
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        request(urls[n % 2] ?? '')
          .post(`/v2/account/${path}`)
          .set('Authorization', `Bearer ${keys[n % 2]}`)
          .send(bodyOf(n)),
      ),
    );
    for (const answer of answers) {
      if (answer.status === 200) continue;
      expectProblem(answer, 'quota_reached');
      expect(answer.body).to.include({ quota, limit: QUOTAS[quota] });
      expect(answer.body.detail).to.match(/Remove|Give their ids|service provider/);
    }
    return answers.filter(({ status }) => status === 200).length;
  }

  const filled = (quota: Quota): readonly number[] => Array.from({ length: QUOTAS[quota] - ROOM }, (_, place) => place);
  const count = (quota: Quota): Promise<number> =>
    site.db.collection(quota).countDocuments({ account: site.account, place: { $exists: true } });

  const fillTemplates = (): Promise<unknown> =>
    insert<TemplateDocument>(
      site.db,
      'templates',
      filled('templates').map((place) => ({
        ...{
          ...ABOUT,
          _id: templateKey(site.account, dltId(place)),
          account: site.account,
          dltId: dltId(place),
          place,
        },
        ...{ status: 'submitted', requested: true, createdAt: new Date() },
      })),
    );
  const asked = (n: number) => ({ ...BODY, dlt_id: dltId(1_000 + n) });
  const BODY = { senders: ['HARKRA'], category: 'service_implicit', content: 'Order {#var#} has left.' };

  it('senders: as many wait as there are places; an approval and a removal make room', async () => {
    await insert(
      site.db,
      'senders',
      filled('senders').map((place) => ({
        ...{ _id: newId('snd'), account: site.account, sender: `S${place}`, routes: ['transactional'], place },
        ...{ status: 'submitted', requested: true, createdAt: new Date() },
      })),
    );
    expect(await race('senders', 'senders', (n) => ({ sender: `N${n}`, routes: ['transactional'] }))).to.equal(ROOM);
    expect(await count('senders')).to.equal(QUOTAS.senders);

    const more = () => post('senders', { sender: `M${newId('req').slice(-8)}`, routes: ['transactional'] });
    await decideSender(site.db, systemClock, site.account, 'S1', 'rejected', 'Another brand');
    expectProblem(await more(), 'quota_reached');
    await decideSender(site.db, systemClock, site.account, 'S1', 'approved');
    await more().expect(200);
    expectProblem(await more(), 'quota_reached');
    expectProblem(await post('senders', { sender: 'S3', routes: ['transactional'] }), 'sender_exists');
    const removed = await site.db.collection('senders').findOne({ account: site.account, sender: 'S2' });
    await ask(site.url, 'delete', `senders/${removed?._id}`).expect(200);
    await more().expect(200);
  });

  it('DLT templates: as many wait as there are places; what operators approve needs none', async () => {
    await fillTemplates();
    expect(await race('templates', 'templates', asked)).to.equal(ROOM);
    expect(await count('templates')).to.equal(QUOTAS.templates);

    await decideTemplate(site.db, systemClock, site.account, dltId(1), 'approved');
    await post('templates', asked(AT_ONCE)).expect(200);
    expectProblem(await post('templates', asked(AT_ONCE + 1)), 'quota_reached');
    await ask(site.url, 'delete', `templates/${dltId(2)}`).expect(200);
    await post('templates', asked(AT_ONCE + 2)).expect(200);
  });

  it('an import is registered whole or not at all, and says so before it is tried', async () => {
    await fillTemplates();
    const csv = (from: number, rows: number) => {
      const lines = Array.from({ length: rows }, (_, n) => `${dltId(from + n)},HARKRA,Order {#var#} ${from + n}.`);
      return { file: [Buffer.from(['Template ID,Header,Content', ...lines].join('\n')).toString('base64')] };
    };
    for (const dry_run of [true, false]) {
      const refused = await post('templates/import', { ...csv(2_000, ROOM + 1), dry_run });
      expectProblem(refused, 'quota_reached');
      expect(refused.body.detail).to.include(`These are ${ROOM + 1} more, and there is room for ${ROOM}.`);
    }
    expect(await count('templates')).to.equal(QUOTAS.templates - ROOM);
    // What the account has already needs no place.
    const known = await post('templates/import', csv(QUOTAS.templates - ROOM - 100, 100 + ROOM)).expect(200);
    expect(known.body).to.include({ imported: ROOM, known: 100 });
    expect(await count('templates')).to.equal(QUOTAS.templates);
  });

  it('imports at the same moment pass the quota no more than single requests do', async () => {
    const rows = Math.floor(QUOTAS.templates / AT_ONCE) + 5;
    const csv = (n: number) => {
      const lines = Array.from({ length: rows }, (_, row) => `${dltId(n * 1_000 + row)},HARKRA,Order {#var#} ${row}.`);
      return { file: [Buffer.from(['Template ID,Header,Content', ...lines].join('\n')).toString('base64')] };
    };
    const whole = await race('templates', 'templates/import', csv);
    expect(whole).to.be.within(1, Math.floor(QUOTAS.templates / rows));
    expect(await count('templates')).to.be.within(whole * rows, QUOTAS.templates);
  });

  it('requests without a DLT id: their place is free when they become a template, which needs one itself', async () => {
    await fillTemplates();
    await insert<TemplateRequestDocument>(
      site.db,
      'template_requests',
      filled('template_requests').map((place) => ({
        ...{ ...ABOUT, _id: newId('tpr'), account: site.account, place, status: 'requested', createdAt: new Date() },
      })),
    );
    expect(await race('template_requests', 'templates', () => BODY)).to.equal(ROOM);
    expect(await count('template_requests')).to.equal(QUOTAS.template_requests);

    const all = site.db.collection<TemplateRequestDocument>('template_requests').find({ account: site.account });
    const [first, other] = await all.limit(2).toArray();
    if (first === undefined || other === undefined) throw new Error('there are no requests');
    await rejectTemplateRequest(site.db, systemClock, site.account, other._id, 'Another brand');
    expectProblem(await post('templates', BODY), 'quota_reached');
    await ask(site.url, 'patch', `templates/${first._id}`, { dlt_id: dltId(5_000) }).expect(200);
    await post('templates', BODY).expect(200);

    await Promise.all(Array.from({ length: ROOM - 1 }, (_, n) => post('templates', asked(n)).expect(200)));
    const third = (await all.clone().toArray()).find(({ status }) => status === 'requested');
    const given = await ask(site.url, 'patch', `templates/${third?._id}`, { dlt_id: dltId(5_001) });
    expectProblem(given, 'quota_reached');
    expect(given.body.quota).to.equal('templates');
    // It still waits for its id, and an operator may assign it.
    expect((await all.clone().toArray()).map(({ _id }) => _id)).to.include(third?._id);
  });

  it('chat-app templates: as many may be asked for as there are places', async () => {
    await makeProvider(site.db, site.account);
    await insert<ChatTemplateRequestDocument>(
      site.db,
      'chat_template_requests',
      filled('chat_template_requests').map((place) => ({
        ...{
          _id: chatTemplateId(ownerOf(site.account), `n${place}`, 'en_US'),
          ...ownerOf(site.account),
          name: `n${place}`,
          place,
        },
        ...{ language: 'en_US', wants: 'create', request: newId('req'), requestedAt: new Date(), tries: 0 },
      })),
    );
    const draft = (n: number) => ({ name: `new_${n}`, language: 'en_US', category: 'utility', body: 'It has left.' });
    expect(await race('chat_template_requests', 'chatapp/templates', draft)).to.equal(ROOM);
    expect(await count('chat_template_requests')).to.equal(QUOTAS.chat_template_requests);
  });

  it('opt-outs that the account enters: one that is there already counts once', async () => {
    const accounts = site.db.collection<{ _id: string; optOutsEntered: number }>('accounts');
    await accounts.updateOne({ _id: site.account }, { $set: { optOutsEntered: QUOTAS.opt_outs - ROOM } });
    expect(await race('opt_outs', 'opt-outs', (n) => ({ customer: `9198765432${10 + n}` }))).to.equal(ROOM);
    expect((await accounts.findOne({ _id: site.account }))?.optOutsEntered).to.equal(QUOTAS.opt_outs);
    const [entered] = await site.db.collection('opt_outs').find({ account: site.account }).limit(1).toArray();
    await post('opt-outs', { customer: entered?.customer }).expect(200);
  });
});

function insert<Doc extends object>(db: Db, collection: Quota, documents: readonly Doc[]): Promise<unknown> {
  return db.collection(collection).insertMany(documents.map((one) => ({ ...one })));
}
