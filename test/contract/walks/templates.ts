import { expectRecord } from '../shape.ts';
import { RESULTS } from '../tables/fields.ts';
import type { World } from '../world.ts';

/** "DLT template" and "Chat-app template": their lists, and a text that fits a DLT template. */
export function walkTemplates(world: () => World): void {
  it('GET /v2/templates has the approved DLT templates, slots as {#var#}', async () => {
    const { client, dlt } = world();

    const { body } = await client.call({ method: 'GET', path: '/v2/templates', key: dlt.key });

    expectRecord(body, RESULTS['DLT template list']);
    expect(body.templates).to.deep.equal([{ id: dlt.id, name: 'order', content: dlt.content }]);
  });

  it('a text that fills the slots of a DLT template goes', async () => {
    const { client, dlt } = world();
    const message = dlt.content.replaceAll('{#var#}', '1234');

    const answer = await client.call({
      method: 'POST',
      path: '/v2/send',
      key: dlt.key,
      body: { to: '919876500999', message, sender: dlt.sender, route: 'transactional' },
    });

    expect(answer.status, answer.text).to.equal(200);
  });

  it('GET /v2/chatapp/templates has the provider’s, each language apart, with their status', async () => {
    const { client, key } = world();

    const { body } = await client.call({ method: 'GET', path: '/v2/chatapp/templates', key });

    expectRecord(body, RESULTS['Chat-app template list']);
    for (const language of ['en_US', 'hi']) {
      expect(body.templates).to.deep.include({ name: 'order_update', status: 'approved', language });
    }
  });
}
