import { createHash, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { keepItems } from '../../shared/chat-inbox/store.ts';
import { recordInbound } from '../../shared/conversations/store.ts';
import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import type { ProviderDocument } from '../../shared/providers/provider.ts';
import { providersByCallback } from '../../shared/providers/store.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { FreshCache } from '../../shared/runtime/fresh-cache.ts';
import { Grouper } from '../../shared/runtime/grouper.ts';
import { type CallbackId, isCallbackId } from '../../shared/runtime/ids.ts';
import type { Unauthorized } from '../access/unauthorized.ts';
import { CALLER_GONE } from '../http/access-log.ts';
import { sendJson, sendProblem, sendText } from '../http/answer.ts';
import type { Handler, Reply } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { parseCallbackBody } from './callback-body.ts';
import { type Callback, readCallback } from './read-callback.ts';
import { readSignedBody } from './signed-body.ts';

/** The size that providers document as the largest of a post. */
const BYTES_MAX = 3_145_728;
const REMEMBERED_PROVIDERS = 20_000;
/** Posts that are stored by the same commands. */
const GROUP_MAX = 100;
/** Items of a post that no others wait for: thousands take the store a second. */
const LARGE_POST = 250;
const CHALLENGE_MAX = 1_024;

interface KnownProvider extends Pick<ProviderDocument, '_id' | 'phoneNumberId'> {
  readonly appSecret: string;
  readonly verifyToken: string;
}

/**
 * What a provider calls: `GET` when its webhook is set up, `POST` with customers' messages and what became of ours. A post is
 * stored before it is answered, and the sessions of the customers are open then; all else is the worker's (docs/decisions/0013).
 * Whoever has no valid signature is limited like one without a good key; providers are not limited.
 */
export function createCallback(
  { box, clock, config, db, log, metrics }: Pick<GatewayDeps, 'box' | 'clock' | 'config' | 'db' | 'log' | 'metrics'>,
  unauthorized: Unauthorized,
): { readonly verify: Handler; readonly receive: Handler } {
  const counted = metrics.counter(
    'chatapp_callback_items_total',
    'Entries of provider callbacks, by what became of them.',
    ['fate'],
  );
  const providers = new FreshCache<CallbackId, ProviderDocument>({
    freshMs: config.keyCacheMs,
    maxEntries: REMEMBERED_PROVIDERS,
    clock,
    readMany: async (callbacks) =>
      new Map((await providersByCallback(db, callbacks)).map((provider) => [provider.callback, provider])),
  });
  const findProvider = async ({ params }: Request): Promise<KnownProvider | undefined> => {
    const { callback } = params;
    const provider = typeof callback === 'string' && isCallbackId(callback) ? await providers.get(callback) : undefined;
    if (provider === undefined) return undefined;
    const { _id, phoneNumberId, appSecret, verifyToken } = provider;
    // Opened here and not where they are read: one that cannot be opened fails alone.
    return { _id, phoneNumberId, appSecret: box.open(appSecret), verifyToken: box.open(verifyToken) };
  };

  const write = async (posts: readonly Callback[]): Promise<void> => {
    // The sessions first: a worker may tell of a message as soon as it is kept, and who hears of it may answer at once.
    await recordInbound(
      db,
      posts.flatMap(({ inbound }) => inbound),
    );
    crashPoint('callback:heard');
    await keepItems(
      db,
      posts.flatMap(({ items }) => items),
    );
  };
  const writer = new Grouper<Callback, { readonly error?: unknown }>({
    maxItems: GROUP_MAX,
    gatherMs: 0,
    run: async (posts) => {
      try {
        await write(posts);
        return posts.map(() => ({}));
      } catch (error) {
        if (isStoreTrouble(error) || posts.length === 1) throw error;
        // One of them cannot be stored: it must not take the others with it.
        return Promise.all(
          posts.map((post) =>
            write([post]).then(
              () => ({}),
              (reason: unknown) => ({ error: reason }),
            ),
          ),
        );
      }
    },
  });

  const keep = async (post: Callback): Promise<void> => {
    if (post.items.length > LARGE_POST) return write([post]);
    const { error } = await writer.add(post);
    if (error !== undefined) throw error;
  };

  /** No provider sends what is cut: somebody should look. */
  const tellCut = ({ _id: account }: KnownProvider, items: number): void => {
    if (items === 0) return;
    counted.inc({ fate: 'cut' }, items);
    log.warn('callback_items_cut', { account, items });
  };

  return {
    verify: async (req, res: Reply) => {
      const provider = await findProvider(req);
      if (provider === undefined) return sendProblem(res, 'not_found');
      const start = req.url.indexOf('?');
      const query = new URLSearchParams(start === -1 ? '' : req.url.slice(start));
      const challenge = query.get('hub.challenge') ?? '';
      const right =
        query.get('hub.mode') === 'subscribe' && sameText(query.get('hub.verify_token') ?? '', provider.verifyToken);
      if (!right) return unauthorized(req, res, 'verify_token_invalid');
      if (challenge.length > CHALLENGE_MAX) return sendProblem(res, 'malformed_request');
      sendText(res, 'text/plain; charset=utf-8', challenge);
    },
    receive: async (req, res: Reply) => {
      const provider = await findProvider(req);
      if (provider === undefined) return sendProblem(res, 'not_found');
      if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
      const body = await readSignedBody(req, provider.appSecret, BYTES_MAX);
      if (body.kind === 'gone') return res.locals.answered(res, CALLER_GONE);
      if (body.kind === 'forged') return unauthorized(req, res, 'signature_invalid');
      if (body.kind === 'too_large') {
        return sendProblem(res, 'body_too_large', { detail: `The body may have at most ${BYTES_MAX} bytes.` });
      }
      const json = parseCallbackBody(body.bytes);
      if (json === undefined) return sendProblem(res, 'malformed_body');
      const post = await readCallback(json, provider, clock.now());
      for (const [fate, count] of Object.entries(post.ignored)) counted.inc({ fate }, count);
      if (post.items.length > 0) {
        await keep(post);
        counted.inc({ fate: 'kept' }, post.items.length);
      }
      tellCut(provider, post.cut);
      sendJson(res, 200, { status: 'success' });
    },
  };
}

/** In constant time, also for texts of different lengths. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
