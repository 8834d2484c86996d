import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import { Poster, type PostResult } from '../../../shared/events/webhooks/post.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { ResolveHost } from '../../../shared/platform/runtime/resolve-host.ts';
import { openReceiver, type Receiver } from './receiver.ts';

interface PosterChoices {
  readonly timeoutMs?: number;
  readonly allowSubnets?: string[];
  readonly resolve?: ResolveHost;
}

/** Posters and receivers without a worker, closed after each test. For the body of a `describe`. */
export function posterWorld() {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const onClose = (close: () => Promise<unknown>): void => void closing.push(close);

  function guarded(guard: AddressGuard, timeoutMs = 10_000): Poster {
    const made = new Poster({ guard, clock: systemClock, timeoutMs });
    onClose(() => made.close());
    return made;
  }

  return {
    onClose,
    guarded,

    /** By default it may post to this machine. */
    poster({ timeoutMs, allowSubnets = ['127.0.0.0/8'], resolve }: PosterChoices = {}): Poster {
      const resolver = resolve === undefined ? {} : { resolve };
      return guarded(new AddressGuard({ allowHttp: true, allowSubnets, ...resolver }), timeoutMs);
    },

    async receiver(...args: Parameters<typeof openReceiver>): Promise<Receiver> {
      const made = await openReceiver(...args);
      onClose(() => made.close());
      return made;
    },

    post(client: Poster, origin: string, path = '/', account?: AccountId): Promise<PostResult> {
      return client.post({
        account,
        origin,
        path,
        headers: ['content-type', 'application/json', 'webhook-id', 'evt_1_sent'],
        body: Buffer.from('{"name":"नमस्ते"}'),
      });
    },
  };
}
