import request from 'supertest';
import type { Gateway } from '../../../../gateway/api/endpoint.ts';
import { newSealedText, openText, rotateKey } from '../../../../gateway/endpoints/keys/keys.ts';
import { formatKey } from '../../../../shared/people/keys/key.ts';
import { findKey, insertKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { TEST_CONFIG } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/keys';
const HOUR_MS = 3_600_000;

describe('API keys: rotation', () => {
  const { site, ask, audit } = settingsWorld();
  const create = async (more: object = {}) =>
    (await ask('post', PATH, { name: 'shop', scopes: ['read'], ...more }).expect(200)).body;
  const balance = (key: string) => request(site.url).get('/v2/balance').set('Authorization', `Bearer ${key}`);

  it('makes a new key with the same settings; both work for a day', async () => {
    const old = await create({ allowed_ips: ['127.0.0.1'], per_minute: 77 });

    const { body } = await ask('post', `${PATH}/${old.key_id}/rotate`, {}).expect(200);

    expect(body).to.deep.include({ ...{ name: 'shop', scopes: ['read'], allowed_ips: ['127.0.0.1'], per_minute: 77 } });
    expect(body).to.include({ rotated_from: old.key_id, expires_at: null });
    await balance(old.key).expect(200);
    await balance(body.key).expect(200);
    const { rotatedTo, expiresAt } = (await findKey(site.db, old.key_id)) ?? {};
    expect(rotatedTo).to.equal(body.key_id);
    expect((expiresAt?.getTime() ?? 0) - Date.now()).to.be.within(23.9 * HOUR_MS, 24 * HOUR_MS);
    const [entry] = (await audit()).filter(({ action }) => action === 'key.rotate');
    expect(entry?.subject.id).to.equal(old.key_id);
    expect(entry?.after).to.include({ rotatedTo: body.key_id });
    expect(JSON.stringify(entry)).not.to.include(body.key.split('_')[3]);
  });

  it('ends the old key when the request says, a week later at most, never later than its own end', async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const old = await create({ expires_at: inHours(2) });

    expectProblem(
      await ask('post', `${PATH}/${old.key_id}/rotate`, { old_expires_at: inHours(169) }),
      'invalid_request',
    );
    expectProblem(
      await ask('post', `${PATH}/${old.key_id}/rotate`, { old_expires_at: inHours(-1) }),
      'invalid_request',
    );
    await ask('post', `${PATH}/${old.key_id}/rotate`, { old_expires_at: inHours(5) }).expect(200);

    const { expiresAt } = (await findKey(site.db, old.key_id)) ?? {};
    expect((expiresAt?.getTime() ?? 0) - Date.now()).to.be.at.most(2 * HOUR_MS);
    expectProblem(await ask('post', `${PATH}/${old.key_id}/rotate`, {}), 'key_not_active');
  });

  it('ends the new key when the request says, so that a key that ends soon can be replaced', async () => {
    const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const [soon, late] = [inHours(2), inHours(2_000)];
    const [first, second] = [await create({ expires_at: soon }), await create({ expires_at: soon })];

    expectProblem(await ask('post', `${PATH}/${first.key_id}/rotate`, { expires_at: inHours(-1) }), 'invalid_request');
    const longer = (await ask('post', `${PATH}/${first.key_id}/rotate`, { expires_at: late }).expect(200)).body;
    const same = (await ask('post', `${PATH}/${second.key_id}/rotate`, {}).expect(200)).body;

    expect(Date.parse(longer.expires_at) - Date.parse(late)).to.be.within(-999, 0);
    expect(same.expires_at).to.equal(second.expires_at);
    const { expiresAt } = (await findKey(site.db, first.key_id)) ?? {};
    expect(expiresAt?.getTime()).to.be.at.most(Date.parse(soon));
  });

  it('makes one key also when several ask at the same moment, and the audit names it', async () => {
    const old = await create();

    const answers = await Promise.all([1, 2, 3].map(() => ask('post', `${PATH}/${old.key_id}/rotate`, {})));

    const made = answers.filter(({ status }) => status === 200).map(({ body }) => body.key_id);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectProblem(answer, 'key_not_active');
    expect(made).to.have.length(1);
    const replacing = await site.db.collection('keys').find({ 'rotatedFrom.key': old.key_id }).toArray();
    expect(replacing.map(({ _id }) => _id)).to.deep.equal(made);
    const [entry] = (await audit()).filter(
      ({ action, subject }) => action === 'key.rotate' && subject.id === old.key_id,
    );
    expect(entry).to.include({ outcome: 'done', times: 1 });
    expect(entry?.after).to.include({ rotatedTo: made[0] });
  });

  it('repeated with its Idempotency-Key, it answers the same key, which is stored nowhere in clear', async () => {
    const old = await create();
    const rotate = () => ask('post', `${PATH}/${old.key_id}/rotate`, {}).set('Idempotency-Key', `r-${old.key_id}`);

    const [first, again] = [await rotate().expect(200), await rotate().expect(200)];

    expect(again.body).to.deep.equal(first.body);
    const stored = await Promise.all(
      ['keys', 'idempotency', 'audit'].map((name) => site.db.collection(name).find().toArray()),
    );
    expect(JSON.stringify(stored)).not.to.include(first.body.key.split('_')[3]);
  });

  it('is completed by the repeated request when the gateway died after it had made the new key', async () => {
    const old = await create();
    const deps = { db: site.db, clock: systemClock, box: TEST_BOX, config: TEST_CONFIG };
    const sealed = newSealedText(deps, site.account);
    const until = new Date(Date.now() + HOUR_MS);
    const rotatedFrom = { key: old.key_id, until };
    const settings = { account: site.account, name: 'shop', scopes: ['read'], rotatedFrom } as const;
    await insertKey(site.db, systemClock, settings, openText(deps, site.account, sealed));

    const found = await rotateKey.action?.(deps as unknown as Gateway).recover(site.account, sealed);

    expect(found?.body).to.include({ key: formatKey(openText(deps, site.account, sealed)), rotated_from: old.key_id });
    expect(await findKey(site.db, old.key_id)).to.deep.include({
      expiresAt: until,
      rotatedTo: openText(deps, site.account, sealed).id,
    });
  });
});
