import type { Answer } from '../client.ts';
import { expectProblem } from '../shape.ts';
import { type Condition, ERRORS } from '../tables/errors.ts';
import type { World } from '../world.ts';

/** Every row of "Errors", by each condition that a caller can cause. */
export function walkErrors(world: () => World): void {
  for (const { status, meaning, conditions } of ERRORS) {
    for (const { when, code } of conditions) {
      it(`${status} ${meaning}: ${when}`, async () => {
        const answer = await CAUSES[when](world());

        if (status === 200) expect(answer.status, answer.text).to.equal(200);
        else expectProblem(answer, status, code);
      });
    }
  }
}

const GOOD = { to: '919876500931', message: 'Your order has left.', sender: 'HARKRA', route: 'transactional' };
const TEMPLATE = { template: 'order_update', language: 'en_US', params: ['Asha', '1234'] };

const CAUSES: Readonly<Record<Condition, (world: World) => Promise<Answer>>> = {
  'a good request': (world) => post(world, '/v2/send', GOOD),
  'a field is missing': (world) => post(world, '/v2/send', { message: 'To nobody', sender: 'HARKRA' }),
  'a parameter is invalid': (world) => post(world, '/v2/send', { ...GOOD, route: 'scenic' }),
  'a field is unknown': (world) => post(world, '/v2/send', { ...GOOD, rout: 'transactional' }),
  'the body is not JSON': (world) => post(world, '/v2/send', '{"to": 919876500931'),
  'the text is of no approved template': (world) =>
    post(world, '/v2/send', { ...GOOD, message: 'Buy now', sender: world.dlt.sender }, world.dlt.key),
  'another scheme than Bearer': ({ client, key }) =>
    client.call({ method: 'GET', path: '/v2/balance', headers: { authorization: `Basic ${key}` } }),
  'the key was revoked': (world) => get(world, '/v2/balance', world.revokedKey),
  'too few credits': (world) => post(world, '/v2/send', GOOD, world.poorKey),
  'the account is suspended': (world) => post(world, '/v2/send', GOOD, world.suspendedKey),
  'the key lacks the scope': (world) => post(world, '/v2/send', GOOD, world.readKey),
  'the sender is not registered': (world) => post(world, '/v2/send', { ...GOOD, sender: 'NOBODY' }, world.dlt.key),
  'the session is closed': (world) =>
    post(world, '/v2/chatapp/send-text', { to: '919876500932', message: 'Have you got a minute?' }),
  'the template is not approved': (world) =>
    post(world, '/v2/chatapp/send', { ...TEMPLATE, to: world.customer, template: 'new_offer', params: ['10'] }),
  'no such message': (world) => get(world, `/v2/status/${unlike(world.deliveredId)}`),
  'no such schedule': ({ client, key }) => client.call({ method: 'DELETE', path: '/v2/schedule/sch_nobodys', key }),
  'no such DLT template': (world) => {
    const { to, sender } = { ...GOOD, ...world.dlt };
    return post(world, '/v2/send', { to, sender, template_id: '1007000000000', params: ['Asha'] }, world.dlt.key);
  },
  'no such chat-app template': (world) =>
    post(world, '/v2/chatapp/send', { ...TEMPLATE, to: world.customer, template: 'nobodys_template' }),
  'no such path': (world) => get(world, '/v2/nowhere'),
};

function post({ client, key }: World, path: string, body: unknown, asKey = key): Promise<Answer> {
  return client.call({ method: 'POST', path, key: asKey, body });
}

function get({ client, key }: World, path: string, asKey = key): Promise<Answer> {
  return client.call({ method: 'GET', path, key: asKey });
}

/** An unused id of the same form. */
function unlike(id: string): string {
  return id.slice(0, -4) + (id.endsWith('0000') ? '1111' : '0000');
}
