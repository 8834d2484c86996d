import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import request from 'supertest';
import { TEMPLATES } from '../../../../scripts/simulator/provider/templates.ts';
import { recordInbound } from '../../../../shared/money/conversations/conversation.ts';
import { createKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { createTemplateRequest } from '../../../../shared/templates/sms/request-store.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { chatAtGateway } from '../../../support/chat-gateway.ts';
import { copyTemplates, NUMBER } from '../../../support/chatapp.ts';
import { curlLines } from '../../../support/curl-line.ts';
import { contract, operations } from '../../../support/openapi.ts';
import { makeOwnThings, pathOf } from '../../../support/own-things.ts';

/** The DLT template of the examples; their chat-app templates are those of `npm start`. */
const TEMPLATE = { dltId: '1107160000000000001', content: 'Hello {#var#}', senders: ['HARKRA'] };

/** The customer without a number in the README. */
const USER_ID = 'IN.1648738043044942';

/** The id of a template request that waits for its template id. */
const REQUEST = `tpr_${'0'.repeat(26)}` as const;

/** Moves the schedule time to tomorrow, because a documented time passes some day. Readers are told to do so. */
function moved(body: unknown): object {
  const { schedule_time: time, ...rest } = Object(body);
  return time === undefined ? rest : { ...rest, schedule_time: new Date(Date.now() + 86_400_000).toISOString() };
}

describe('what the documents show can be sent as it stands', () => {
  const world = chatAtGateway(100);
  beforeEach(async () => {
    await createTemplate(world.db, systemClock, world.account, makeTemplate(TEMPLATE));
    await world.configure();
    await copyTemplates(world.db, world.account, TEMPLATES);
    await world.customerWrote();
    await world.customerWrote(new Date(), USER_ID);
    await world.db.collection('template_requests').deleteMany({});
    const asked = { _id: REQUEST, account: world.account, name: 'Code', senders: ['HARKRA'], content: 'Bye {#var#}' };
    await createTemplateRequest(world.db, systemClock, { ...asked, routes: ['transactional'] });
  });
  const ask = async (method: string, path: string, body: object) => {
    const { key: live, ids } = await makeOwnThings(world.db, world.account);
    const ofTest = { account: world.account, test: true, name: 'ci', scopes: ['send'] } as const;
    const key = path.includes('/test-') ? (await createKey(world.db, systemClock, ofTest)).key : live;
    const at = pathOf(path, { ...ids, template_id: REQUEST, name: 'order_update', language: 'en_US' });
    const call = request(world.url)[method === 'patch' || method === 'put' ? method : 'post'](at);
    return call.set('Authorization', `Bearer ${key}`).send(body);
  };

  // Not those that need a user, a code, a link or a message: their endpoints' tests cover them.
  for (const { method, path, operation } of operations.filter(
    (one) =>
      !['Sign-in', 'Users', 'Operators'].some((tag) => one.operation.tags.includes(tag)) &&
      !/\/(release|resend|settings|read|send-reaction|check)$/.test(one.path),
  )) {
    for (const [name, { value }] of Object.entries(
      operation.requestBody?.content?.['application/json']?.examples ?? {},
    )) {
      it(`the document: ${method} ${path}, ${name}`, async () => {
        const answer = await ask(method, path, moved(value));

        expect(answer.status, answer.text).to.equal(200);
      });
    }
  }

  const readme = readFileSync(join(import.meta.dirname, '../../../../README.md'), 'utf8').replaceAll(/\\\n +/g, '');
  for (const line of curlLines(readme, '/v2/')) {
    const [, path = '', body] = /127\.0\.0\.1:3000(\S+).*?(?: -d '(.*)')?$/.exec(line) ?? [];
    it(`README.md: ${path}`, async () => {
      if (body === undefined) expect(path).to.match(/^\/v2\/(status\/msg_…|balance)$/);
      else {
        const asked = JSON.parse(body);
        await recordInbound(world.db, [{ account: world.account, customer: asked.to, number: NUMBER, at: new Date() }]);
        if (path === '/v2/verify/check') {
          await ask('post', '/v2/verify', { to: asked.to, sender: 'HARKRA', message: 'Your code is {code}' });
        }
        const answer = await ask('post', path, asked);
        expect(answer.status, answer.text).to.equal(200);
      }
    });
  }

  it('hosts are such as lead somewhere: names that are reserved for examples are refused (RFC 2606)', () => {
    const urls = JSON.stringify(operations.map(({ operation }) => operation.requestBody)).match(/https?:\/\/[^"/]+/g);

    expect(urls).to.have.length.at.least(2);
    expect(urls?.filter((url) => /\.(example|test|invalid|localhost)$/.test(url))).to.deep.equal([]);
  });

  it('delivered messages of the chat-app channel have its operator in every example, as in every answer', () => {
    const shown = objectsIn(contract.paths).filter(
      (one) => one.channel === 'chatapp' && typeof one.delivered_at === 'string' && 'operator' in one,
    );

    expect(shown).to.have.length.at.least(1);
    expect(shown.map(({ operator }) => operator)).to.deep.equal(shown.map(() => 'chatapp'));
  });
});

function objectsIn(value: unknown): Readonly<Record<string, unknown>>[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inside : [{ ...value }, ...inside];
}
