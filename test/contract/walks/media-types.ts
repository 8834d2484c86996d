import { expectProblem, namedFields } from '../shape.ts';
import { MEDIA_TYPES, OTHER_FORMATS } from '../tables/media-types.ts';
import type { World } from '../world.ts';

/** "Supported media types (chat-app)". */
export function walkMediaTypes(world: () => World): void {
  const send = (type: string, format: string) => {
    const { client, key, customer } = world();
    const body = { to: customer, type, url: `https://127.0.0.1/file.${format}` };
    return client.call({ method: 'POST', path: '/v2/chatapp/send-media', key, body });
  };

  for (const { type, formats } of MEDIA_TYPES) {
    it(`${type}: ${formats.join(', ')} go, all others are 400`, async () => {
      for (const format of formats) {
        const answer = await send(type, format);
        expect(answer.status, `${format}: ${answer.text}`).to.equal(200);
      }
      const others = MEDIA_TYPES.filter((other) => other.type !== type).flatMap((other) => other.formats);
      for (const format of [...others, ...OTHER_FORMATS]) {
        const answer = await send(type, format);
        expectProblem(answer, 400, 'invalid_request');
        expect(namedFields(answer), format).to.deep.equal(['url']);
      }
    });
  }
}
