import { callRow } from '../requests.ts';
import { CHATAPP_ENDPOINTS } from '../tables/endpoints-chatapp.ts';
import { SMS_ENDPOINTS } from '../tables/endpoints-sms.ts';
import type { World } from '../world.ts';

/** Rules of "Authentication" beyond single rows. endpoints.ts tests each row without a key and with a wrong one. */
export function walkAuthentication(world: () => World): void {
  it('the same key opens all endpoints of both channels', async () => {
    for (const row of [...SMS_ENDPOINTS, ...CHATAPP_ENDPOINTS]) {
      const { status, text } = await callRow(row, world(), world().key);
      expect(status, `${row.method} ${row.path}: ${text}`).to.equal(200);
    }
  });

  it('a scope opens its own endpoints', async () => {
    for (const row of [...SMS_ENDPOINTS, ...CHATAPP_ENDPOINTS]) {
      for (const scopes of row.scopes) {
        const { status, text } = await callRow(row, world(), await world().keyWith(scopes));
        expect(status, `${row.method} ${row.path} with ${scopes}: ${text}`).to.equal(200);
      }
    }
  });

  it('Content-Type: application/json may name its charset', async () => {
    const { client, key } = world();
    const body = { to: '919876500998', message: 'नमस्ते', sender: 'HARKRA' };
    const headers = { 'content-type': 'application/json; charset=utf-8' };

    expect((await client.call({ method: 'POST', path: '/v2/send', key, body, headers })).status).to.equal(200);
  });
}
