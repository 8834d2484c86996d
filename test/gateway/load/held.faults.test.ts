import { use } from '../../support/use.ts';
import {
  type Worst,
  worstAddresses,
  worstBulks,
  worstCallbacks,
  worstCtas,
  worstImports,
  worstMessages,
  worstReads,
  worstTexts,
} from './worst-requests.ts';
import { openWorstWorld } from './worst-world.ts';

/** Milliseconds for which a request may hold the event loop. */
const HELD_MAX = 50;
/** The best of several tries counts, because garbage collection and first compilation are not the request's fault. */
const TRIES = 6;

describe('no request holds the event loop of a gateway', function () {
  this.timeout(120_000);
  const world = use(openWorstWorld);

  const kinds: readonly (readonly [what: string, requests: () => readonly Worst[]])[] = [
    ['large bodies', worstBulks],
    ['bodies of 64 KB', worstMessages],
    ['texts against templates', worstTexts],
    ['files of templates', worstImports],
    ['files of links and numbers', worstCtas],
    ['addresses and headers', worstAddresses],
    ['lists and files', () => worstReads(world)],
    ['posts of providers', () => worstCallbacks(world)],
  ];
  for (const [what, requests] of kinds) {
    it(what, async () => {
      const tooLong: string[] = [];
      for (const request of requests()) {
        let bestMs = Number.POSITIVE_INFINITY;
        for (let tries = 0; tries < TRIES && bestMs > HELD_MAX; tries++) {
          const { heldMs, statuses } = await world.send(request);
          expect([...new Set(statuses)], request.what).to.deep.equal([request.status]);
          bestMs = Math.min(bestMs, heldMs);
        }
        if (bestMs > HELD_MAX) tooLong.push(`${Math.round(bestMs)} ms: ${request.what}`);
      }
      expect(tooLong).to.deep.equal([]);
    });
  }
});
