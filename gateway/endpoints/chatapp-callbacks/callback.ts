import { isUtf8 } from 'node:buffer';
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Db } from 'mongodb';
import { z } from 'zod';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import {
  noteNotice,
  noteTier,
  providersByCallback,
  providersByGraphId,
} from '../../../shared/carriers/providers/store.ts';
import { keepItems } from '../../../shared/messages/chat-inbox.ts';
import { recordInbound } from '../../../shared/money/conversations/conversation.ts';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import { type End, storeApart } from '../../../shared/platform/runtime/apart.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { Grouper } from '../../../shared/platform/runtime/grouper.ts';
import { type AccountId, type CallbackId, isCallbackId } from '../../../shared/platform/runtime/ids.ts';
import { nextTurn, turnOver } from '../../../shared/platform/runtime/turns.ts';
import { endpoint, type Gateway, perProcess } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import { sendJson, sendProblem, sendText } from '../../http/answer.ts';
import { CALLER_GONE } from '../../http/begin.ts';
import { type Handler, isObject, type JsonObject, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { optional, string } from '../../http/fields/field.ts';
import { LARGE_BYTES, type RawBody, readRawBody } from '../../http/json-body.ts';
import { noticeWords } from './account-news.ts';
import type { AccountPart } from './account-part.ts';
import { LogLimit } from './log-limit.ts';
import { type CallbackPost, type FindOwners, type OwnedId, type Owner, readCallback } from './read-callback.ts';

/** The largest post, as providers document it. */
const BYTES_MAX = 3_145_728;
const CHALLENGE_MAX = 1_024;
/** The most notices of a post that are logged. Real posts have one or two. */
const NOTICES_MAX = 100;

const IN_PATH = {
  callback: text("The callback id of the account's provider, as `ops provider show` prints it.", {
    example: 'cb_01m7znjn7hdb5pft3awkb6pgvz',
  }),
};

export const chatappCallbackVerify = endpoint({
  id: 'chatappCallbackVerify',
  method: 'get',
  path: '/chatapp/callback/{callback}',
  tag: 'Running it',
  summary: "The provider's verify challenge",
  description:
    'The provider of the chat-app channel calls this when its webhook is set up. The answer is the challenge and nothing else.',
  params: IN_PATH,
  query: {
    'hub.mode': optional(string({ description: '`subscribe`.' }, (mode) => mode)),
    'hub.verify_token': optional(
      string({ description: 'The verify token that was shown when the provider was set up.' }, (token) => token),
    ),
    'hub.challenge': optional(
      string({ description: 'What the answer repeats.', maxLength: CHALLENGE_MAX }, (challenge) => challenge),
    ),
  },
  problems: [
    'malformed_request',
    'verify_token_invalid',
    'auth_failures_limited',
    'not_found',
    'internal_error',
    'store_unavailable',
  ],
  openapi: { responses: { 200: { content: { 'text/plain': { schema: { type: 'string' } } }, headers: undefined } } },
  respond(gateway) {
    const { unauthorized } = gateway;
    const callbackProviders = callbackProvidersOf(gateway);
    return async (req, res: Reply) => {
      const provider = await callbackProviders.find(req.params.callback);
      if (provider === undefined) return sendProblem(res, 'not_found');
      const start = req.url.indexOf('?');
      const query = new URLSearchParams(start === -1 ? '' : req.url.slice(start));
      const challenge = query.get('hub.challenge') ?? '';
      const right =
        query.get('hub.mode') === 'subscribe' && sameText(query.get('hub.verify_token') ?? '', provider.verifyToken);
      if (!right) return unauthorized(req, res, 'verify_token_invalid');
      if (challenge.length > CHALLENGE_MAX) return sendProblem(res, 'malformed_request');
      sendText(res, 'text/plain; charset=utf-8', challenge);
    };
  },
});

/**
 * Posts are stored, and sessions open, before the answer; the worker does the rest (docs/decisions/0016). Wrong
 * signatures are rate-limited like invalid keys; providers are not.
 */
export const chatappCallback = endpoint({
  id: 'chatappCallback',
  method: 'post',
  path: '/chatapp/callback/{callback}',
  tag: 'Running it',
  summary: "The provider's callback",
  description:
    'Messages from customers and statuses of ours, in the shape of the WhatsApp Cloud API, signed with the app secret in `X-Hub-Signature-256`. The answer comes after everything is stored. After any answer but 200, post the same again: nothing is stored twice. At most 3 MB.',
  params: IN_PATH,
  answer: named('CallbackResult', { status: z.enum(['success']) }),
  problems: [
    'malformed_body',
    'signature_invalid',
    'not_found',
    'body_too_large',
    'auth_failures_limited',
    'internal_error',
    'store_unavailable',
  ],
  examples: { answer: { stored: { status: 'success' } } },
  openapi: {
    parameters: [
      {
        name: 'X-Hub-Signature-256',
        in: 'header',
        required: true,
        description: "`sha256=` and the HMAC-SHA256 of the body's bytes in hexadecimal digits.",
        schema: { type: 'string' },
      },
    ],
    responses: { 200: { headers: undefined } },
  },
  respond: (gateway) => new Callbacks(gateway).receive,
});

class Callbacks {
  readonly receive: Handler = (req, res) => this.#receive(req, res);
  readonly #deps: Gateway;
  readonly #keep: ReturnType<typeof partStore>;
  readonly #unknown: LogLimit;
  readonly #notices: LogLimit;
  readonly #counted: ReturnType<Gateway['metrics']['counter']>;

  constructor(deps: Gateway) {
    this.#deps = deps;
    this.#keep = partStore(deps.db);
    this.#unknown = new LogLimit(deps.clock);
    this.#notices = new LogLimit(deps.clock);
    this.#counted = deps.metrics.counter(
      'chatapp_callback_items_total',
      'Entries of provider callbacks, by what was done with them.',
      ['fate'],
    );
  }

  async #receive(req: Request, res: Reply): Promise<void> {
    const { clock, largeBodies, unauthorized } = this.#deps;
    const callbackProviders = callbackProvidersOf(this.#deps);
    const provider = await callbackProviders.find(req.params.callback);
    if (provider === undefined) return sendProblem(res, 'not_found');
    if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
    const body = await readSignedBody(req, provider.appSecret, BYTES_MAX);
    if (body.kind === 'gone') return res.locals.answered(res, CALLER_GONE);
    if (body.kind === 'forged') return unauthorized(req, res, 'signature_invalid');
    if (body.kind === 'too_large') {
      return sendProblem(res, 'body_too_large', { detail: `The body may have at most ${BYTES_MAX} bytes.` });
    }
    // After the signature check, or strangers could take the places of the provider's posts.
    if (body.bytes.length > LARGE_BYTES) await largeBodies.enter(provider.account, res);
    const json = await parseCallbackBody(body.bytes);
    if (json === undefined) return sendProblem(res, 'malformed_body');
    const findOwners: FindOwners = (by, id) => callbackProviders.owners(provider, by, id);
    const post = await readCallback(json, findOwners, clock.now());
    await Promise.all(post.parts.filter(({ items }) => items.length > 0).map((part) => this.#keep(part)));
    await this.#count(post, provider);
    sendJson(res, { status: 'success' });
  }

  async #count({ parts, ignored, unknown }: CallbackPost, { account: poster }: CallbackProvider): Promise<void> {
    const { log } = this.#deps;
    for (const [fate, count] of Object.entries(ignored)) this.#counted.inc({ fate }, count);
    for (const { account, items, cut, notices } of parts) {
      if (items.length > 0) this.#counted.inc({ fate: 'kept' }, items.length);
      if (notices.length > 0) await this.#tell(account, notices);
      if (cut === 0) continue;
      this.#counted.inc({ fate: 'cut' }, cut);
      // No provider documents items of this size, so an operator should look.
      log.warn('callback_items_cut', { account, items: cut });
    }
    for (const [whose, entries] of unknown) {
      if (this.#unknown.allows(whose)) log.warn('callback_for_nobody', { account: poster, whose, entries });
    }
  }

  /** Logs all notices; the operators' pages show the newest. */
  async #tell(account: AccountId, notices: AccountPart['notices']): Promise<void> {
    this.#counted.inc({ fate: 'notice' }, notices.length);
    const { db, clock } = this.#deps;
    const reached = notices.filter(({ notice: { tier } }) => tier !== undefined).slice(0, NOTICES_MAX);
    for (const { notice, numbers } of reached) {
      if (notice.tier !== undefined) await noteTier(db, numbers, { ...notice.tier, at: clock.now() });
    }
    const told = notices
      .slice(0, NOTICES_MAX)
      .filter(({ notice, numbers }) => this.#notices.allows(JSON.stringify([account, numbers, notice])));
    for (const { notice } of told) {
      const { tier: _, ...shown } = notice;
      this.#deps.log.warn('provider_notice', { account, ...shown });
    }
    const newest = told.findLast(({ notice: { tier } }) => tier === undefined);
    if (newest === undefined) return;
    await noteNotice(db, newest.numbers, { at: clock.now(), words: noticeWords(newest.notice) });
  }
}

type SignedBody =
  | Exclude<RawBody, { readonly kind: 'whole' }>
  | { readonly kind: 'genuine'; readonly bytes: Buffer }
  | { readonly kind: 'forged' };

/**
 * Reads a body and checks its signature over the raw bytes before parsing: `X-Hub-Signature-256: sha256=<hex
 * HMAC-SHA256(app secret, raw body)>` (Meta's Graph API, Webhooks, "Validating payloads"). Compares in constant time.
 * Without a well-formed header the body is not read.
 */
async function readSignedBody(req: Request, secret: string, limitBytes: number): Promise<SignedBody> {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(String(req.headers['x-hub-signature-256'] ?? '')) ?? [];
  if (hex === undefined) return { kind: 'forged' };
  const hmac = createHmac('sha256', secret);
  // Hashed in chunks: 3 MB at once would hold the event loop for some 10 ms.
  const body = await readRawBody(req, limitBytes, (chunk) => hmac.update(chunk));
  if (body.kind !== 'whole') return body;
  const genuine = timingSafeEqual(hmac.digest(), Buffer.from(hex, 'hex'));
  return genuine ? { kind: 'genuine', bytes: body.bytes } : { kind: 'forged' };
}

/**
 * The most values of a post, estimated by its commas and opening brackets. 3 MB with 24,000 messages have 170,000
 * values and are parsed in 20 ms; 3 MB of brackets took 460 ms. Only the account's own provider can sign either.
 */
const VALUES_MAX = 500_000;

/** Undefined when the body is no JSON object in UTF-8 or has too many values. */
async function parseCallbackBody(bytes: Buffer): Promise<JsonObject | undefined> {
  if (!isUtf8(bytes) || (await hasTooManyValues(bytes))) return undefined;
  if (turnOver()) await nextTurn();
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const PIECE_BYTES = 65_536;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** In slices, because 3 MB take some 10 ms. */
async function hasTooManyValues(bytes: Buffer): Promise<boolean> {
  let values = 1;
  let inString = false;
  for (let i = 0, pause = 0; i < bytes.length && values <= VALUES_MAX; i++) {
    if (i >= pause) {
      if (turnOver()) await nextTurn();
      pause = i + PIECE_BYTES;
    }
    const byte = bytes[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values++;
  }
  return values > VALUES_MAX;
}

/** The most parts of posts that share commands. */
const GROUP_MAX = 100;
/** A part with more items is stored alone, because others would wait: thousands of items take the store a second. */
const LARGE_PART = 250;

/** Stores parts of posts, many with shared commands. Resolves when the part is stored. */
export function partStore(db: Db): (part: AccountPart) => Promise<void> {
  const grouper = new Grouper<AccountPart, End>({
    maxItems: GROUP_MAX,
    gatherMs: 0,
    run: (parts) => storeApart(parts, write, (error) => !isStoreTrouble(error)),
  });
  return async (part) => {
    if (part.items.length > LARGE_PART) return write([part]);
    const { error } = await grouper.add(part);
    if (error !== undefined) throw error;
  };

  async function write(parts: readonly AccountPart[]): Promise<void> {
    // Sessions first: once an item is stored, a worker may tell the customer's system, which may answer at once.
    await recordInbound(
      db,
      parts.flatMap(({ inbound }) => inbound),
    );
    crashPoint('callback:heard');
    await keepItems(
      db,
      parts.flatMap(({ items }) => items),
    );
  }
}

const REMEMBERED_MAX = 20_000;

/** The number whose provider posts to a callback address, with the secrets that verify its requests. */
interface CallbackProvider extends Pick<ProviderDocument, '_id' | 'account' | 'phoneNumberId'> {
  readonly appSecret: string;
  readonly verifyToken: string;
}

class CallbackProviders {
  readonly #box: GatewayDeps['box'];
  readonly #providers: FreshCache<CallbackId, ProviderDocument>;
  /** By number id or business account id. */
  readonly #owners: FreshCache<string, ProviderDocument[]>;

  constructor({ box, clock, config, db }: Pick<GatewayDeps, 'box' | 'clock' | 'config'> & { readonly db: Db }) {
    this.#box = box;
    const limits = { freshMs: config.keyCacheMs, maxEntries: REMEMBERED_MAX, clock };
    this.#providers = new FreshCache({
      ...limits,
      readMany: async (callbacks) =>
        new Map((await providersByCallback(db, callbacks)).map((provider) => [provider.callback, provider])),
    });
    this.#owners = new FreshCache({
      ...limits,
      readMany: async (ids) => {
        const providers = await providersByGraphId(db, ids);
        const having = (id: string) => providers.filter((one) => one.phoneNumberId === id || one.businessId === id);
        return new Map(ids.map((id) => [id, having(id)] as const).filter(([, found]) => found.length > 0));
      },
    });
  }

  async find(callback: unknown): Promise<CallbackProvider | undefined> {
    if (typeof callback !== 'string' || !isCallbackId(callback)) return undefined;
    const provider = await this.#providers.get(callback);
    if (provider === undefined) return undefined;
    const { _id, account, phoneNumberId, appSecret, verifyToken } = provider;
    // Decrypted here and not with the read of many providers, so that an unreadable secret fails only this provider.
    return {
      _id,
      account,
      phoneNumberId,
      appSecret: this.#box.open(appSecret, ['providers', _id, 'appSecret']),
      verifyToken: this.#box.open(verifyToken, ['providers', _id, 'verifyToken']),
    };
  }

  /**
   * The numbers that a change is for. All numbers of an app may post to one address, so other numbers than the poster's
   * are found too, but only those with the same app secret: the post is signed with it, so nobody can write to an
   * account of another app.
   */
  async owners(poster: CallbackProvider, by: OwnedId, id: string): Promise<readonly Owner[]> {
    if (by === 'phoneNumberId' && id === poster.phoneNumberId) return [{ number: poster._id, account: poster.account }];
    const providers = (await this.#owners.get(id)) ?? [];
    return providers
      .filter((one) => one[by] === id)
      .filter(({ _id, appSecret }) =>
        sameText(this.#box.open(appSecret, ['providers', _id, 'appSecret']), poster.appSecret),
      )
      .map(({ _id, account }) => ({ number: _id, account }));
  }
}

const callbackProvidersOf = perProcess((gateway) => new CallbackProviders(gateway));

/** In constant time, also for texts of different lengths. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
