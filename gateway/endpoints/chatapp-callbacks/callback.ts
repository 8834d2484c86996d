import type { Request } from 'express';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import type { Unauthorized } from '../../access/unauthorized.ts';
import { CALLER_GONE } from '../../http/access-log.ts';
import { sendJson, sendProblem, sendText } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { LARGE_BYTES, type LargeBodies } from '../../http/large-bodies.ts';
import type { GatewayDeps } from '../../process/deps.ts';
import { parseCallbackBody } from './callback-body.ts';
import { type CallbackProvider, CallbackProviders } from './callback-providers.ts';
import { CallbackStore } from './callback-store.ts';
import { LogLimit } from './log-limit.ts';
import { type CallbackPost, type FindOwners, readCallback } from './read-callback.ts';
import type { Notice } from './read-notice.ts';
import { sameText } from './same-text.ts';
import { readSignedBody } from './signed-body.ts';

/** The largest post, as providers document it. */
const BYTES_MAX = 3_145_728;
const CHALLENGE_MAX = 1_024;
/** The most notices of a post that are logged. A real post has one or two. */
const NOTICES_MAX = 100;

type CallbackDeps = Pick<GatewayDeps, 'box' | 'clock' | 'config' | 'db' | 'log' | 'metrics'>;

/**
 * The endpoint that a provider calls: `GET` when its webhook is set up, `POST` with customers' messages and statuses
 * of ours. A post is stored, and the customers' sessions are open, before it is answered. The worker does everything
 * else (docs/decisions/0013). Requests without a valid signature are limited like requests without a good key.
 * Providers are not limited.
 */
export class Callback {
  /** `GET`: echoes the challenge if the verify token is right. */
  readonly verify: Handler = (req, res) => this.#verify(req, res);
  /** `POST`: stores customers' messages and statuses. */
  readonly receive: Handler = (req, res) => this.#receive(req, res);
  readonly #deps: CallbackDeps;
  readonly #unauthorized: Unauthorized;
  readonly #large: LargeBodies;
  readonly #providers: CallbackProviders;
  readonly #store: CallbackStore;
  readonly #strays: LogLimit;
  readonly #notices: LogLimit;
  readonly #counted: ReturnType<GatewayDeps['metrics']['counter']>;

  constructor(deps: CallbackDeps, unauthorized: Unauthorized, large: LargeBodies) {
    this.#deps = deps;
    this.#large = large;
    this.#unauthorized = unauthorized;
    this.#providers = new CallbackProviders(deps);
    this.#store = new CallbackStore(deps.db);
    this.#strays = new LogLimit(deps.clock);
    this.#notices = new LogLimit(deps.clock);
    this.#counted = deps.metrics.counter(
      'chatapp_callback_items_total',
      'Entries of provider callbacks, by what was done with them.',
      ['fate'],
    );
  }

  async #verify(req: Request, res: Reply): Promise<void> {
    const provider = await this.#providers.find(req.params.callback);
    if (provider === undefined) return sendProblem(res, 'not_found');
    const start = req.url.indexOf('?');
    const query = new URLSearchParams(start === -1 ? '' : req.url.slice(start));
    const challenge = query.get('hub.challenge') ?? '';
    const right =
      query.get('hub.mode') === 'subscribe' && sameText(query.get('hub.verify_token') ?? '', provider.verifyToken);
    if (!right) return this.#unauthorized(req, res, 'verify_token_invalid');
    if (challenge.length > CHALLENGE_MAX) return sendProblem(res, 'malformed_request');
    sendText(res, 'text/plain; charset=utf-8', challenge);
  }

  async #receive(req: Request, res: Reply): Promise<void> {
    const provider = await this.#providers.find(req.params.callback);
    if (provider === undefined) return sendProblem(res, 'not_found');
    if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
    const body = await readSignedBody(req, provider.appSecret, BYTES_MAX);
    if (body.kind === 'gone') return res.locals.answered(res, CALLER_GONE);
    if (body.kind === 'forged') return this.#unauthorized(req, res, 'signature_invalid');
    if (body.kind === 'too_large') {
      return sendProblem(res, 'body_too_large', { detail: `The body may have at most ${BYTES_MAX} bytes.` });
    }
    // Behind the signature: else a stranger could take the places of the provider's own posts.
    if (body.bytes.length > LARGE_BYTES) await this.#large.enter(provider._id, res);
    const json = await parseCallbackBody(body.bytes);
    if (json === undefined) return sendProblem(res, 'malformed_body');
    const findOwners: FindOwners = (by, id) => this.#providers.owners(provider, by, id);
    const post = await readCallback(json, findOwners, this.#deps.clock.now());
    await Promise.all(post.parts.filter(({ items }) => items.length > 0).map((part) => this.#store.keep(part)));
    this.#count(post, provider);
    sendJson(res, { status: 'success' });
  }

  #count({ parts, ignored, strays }: CallbackPost, { _id: poster }: CallbackProvider): void {
    const { log } = this.#deps;
    for (const [fate, count] of Object.entries(ignored)) this.#counted.inc({ fate }, count);
    for (const { account, items, cut, notices } of parts) {
      if (items.length > 0) this.#counted.inc({ fate: 'kept' }, items.length);
      if (notices.length > 0) this.#tell(account, notices);
      if (cut === 0) continue;
      this.#counted.inc({ fate: 'cut' }, cut);
      // No provider documents items of this size, so an operator should look.
      log.warn('callback_items_cut', { account, items: cut });
    }
    for (const [whose, entries] of strays) {
      if (this.#strays.allows(whose)) log.warn('callback_for_nobody', { account: poster, whose, entries });
    }
  }

  #tell(account: AccountId, notices: readonly Notice[]): void {
    this.#counted.inc({ fate: 'notice' }, notices.length);
    for (const notice of notices.slice(0, NOTICES_MAX)) {
      if (!this.#notices.allows(JSON.stringify([account, notice]))) continue;
      this.#deps.log.warn('provider_notice', { account, ...notice });
    }
  }
}
