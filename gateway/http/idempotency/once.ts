import { createHash, hash } from 'node:crypto';
import type { Request } from 'express';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { isBatchId, isMessageId, isScheduleId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { nextTurn, turnOver } from '../../../shared/platform/runtime/turns.ts';
import { sendJson, sendJsonText, sendProblem } from '../answer.ts';
import { bodyOf, type Handler, type JsonObject, ownerOf, type Reply } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { FieldProblems, invalidRequest } from '../field-problems.ts';
import type { Action, Problem, Verdict } from './action.ts';
import { claimId, type KeptAnswer, type KeyClaimDocument, KeyHolder } from './key-store.ts';

type Once = <Id extends string>(action: Action<Id>) => Handler;

/**
 * Makes the handlers of POSTs. A request with an Idempotency-Key is done once: the key is claimed in the store first,
 * an accepted request is remembered for a day, a refused one frees the key. After a crash at any point the next request
 * with the key finds out what was done. All actions must be added before the first request.
 */
export function createOnce(deps: Pick<GatewayDeps, 'db' | 'clock' | 'log' | 'box'>): Once {
  const keys = new KeyHolder(deps);

  async function doOnce<Id extends string>(action: Action<Id>, key: string, req: Request, res: Reply): Promise<void> {
    const account = ownerOf(res);
    const id = action.newId(account);
    const wanted = {
      _id: claimId(account, key),
      fingerprint: await fingerprintInSlices(req.method, req.path, bodyOf(res)),
      action: action.name,
      result: id,
    };
    const held = await keys.take(account, wanted, action.aheadMs);
    if (held.kind === 'refused') return sendProblem(res, ...held.problem);
    if (held.kind === 'answered') {
      // The same request has the same path, so the same action made the id.
      const refusal = await action.refuseReplay?.(res, held.claim.result as Id);
      if (refusal !== undefined) return sendProblem(res, ...refusal);
      return replay(res, held.claim, keys.open(held.claim, held.answer));
    }
    crashPoint('key:claimed');
    const verdict = await action.act(res, { id, payBy: held.claim.payBy });
    if (verdict.kind === 'accepted') crashPoint('key:paid');
    try {
      if (verdict.kind === 'accepted') await keys.complete(held.claim, verdict);
      else if (verdict.kind !== 'unknown') await keys.free(held.claim);
    } catch (error) {
      // The next request with the key finds out what was done.
      deps.log.warn('key_claim_not_settled', { request_id: res.locals.requestId, ...errorFields(error) });
    }
    answer(res, verdict);
  }

  return (action) => {
    keys.add(action);
    return async (req, res: Reply) => {
      const header = req.headers['idempotency-key'];
      const key = header === undefined ? undefined : parseIdempotencyKey(String(header));
      if (key !== undefined) await doOnce(action, key, req, res);
      else if (header !== undefined) sendProblem(res, ...malformedKey());
      else answer(res, await action.act(res, { id: action.newId(ownerOf(res)), payBy: undefined }));
    };
  };
}

function answer(res: Reply, verdict: Verdict): void {
  if (verdict.kind === 'accepted' || verdict.kind === 'dry_run') sendJson(res, verdict.body);
  else sendProblem(res, ...verdict.problem);
}

function replay(res: Reply, { result }: KeyClaimDocument, { status, body }: KeptAnswer): void {
  if (isMessageId(result)) res.locals.messageId = result;
  if (isBatchId(result)) res.locals.batchId = result;
  if (isScheduleId(result)) res.locals.scheduleId = result;
  sendJsonText(res, status, body, ['Idempotency-Replayed', 'true']);
}

function malformedKey(): Problem {
  const problems = new FieldProblems();
  problems.add('Idempotency-Key', 'invalid_value', 'It must have 1 to 255 visible ASCII characters, in quotes or not.');
  return invalidRequest(problems);
}

/** Without its quotes. */
const CHARACTERS_MAX = 255;

/**
 * Parses the header `Idempotency-Key`: a structured-field string (RFC 9651 §3.3.3, `"8e03…"`) or, as many clients send
 * it, bare text. Both name the same key: 1 to 255 visible ASCII characters. Undefined for anything else.
 */
export function parseIdempotencyKey(header: string): string | undefined {
  const key = header.startsWith('"') ? unquoted(header) : header;
  if (key === undefined || key.length === 0 || key.length > CHARACTERS_MAX) return undefined;
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

/** In a structured-field string `"` and `\` must be escaped, and nothing else may be. */
function unquoted(text: string): string | undefined {
  const [, inner] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text) ?? [];
  return inner?.replaceAll(/\\(["\\])/g, '$1');
}

/** SHA-256 of the method, the path and the body: order of members, white space and escapes make no difference. */
function fingerprintOf(method: string, path: string, body: JsonObject): string {
  return hash('sha256', `${method}\n${path}\n${canonical(body, 0)}`, 'base64url');
}

/** This many characters, or one longer entry, are written before a pause. That takes a few milliseconds. */
const SLICE_LENGTH = 65_536;

/** The same fingerprint, computed with pauses so that a large body does not hold the event loop. */
export async function fingerprintInSlices(method: string, path: string, body: JsonObject): Promise<string> {
  if (!Object.values(body).some(Array.isArray)) return fingerprintOf(method, path, body);
  const digest = createHash('sha256').update(`${method}\n${path}\n`);
  let text = '{';
  for (const [number, [name, member]] of sorted(body).entries()) {
    text += `${number === 0 ? '' : ','}${JSON.stringify(name)}:`;
    if (!Array.isArray(member)) {
      text += canonical(member, 1);
      continue;
    }
    text += '[';
    for (let i = 0; i < member.length; i++) {
      text += `${i === 0 ? '' : ','}${canonical(member[i], 2)}`;
      if (text.length < SLICE_LENGTH) continue;
      digest.update(text);
      text = '';
      if (turnOver()) await nextTurn();
    }
    text += ']';
  }
  return digest.update(`${text}}`).digest('base64url');
}

/** No endpoint accepts deeper bodies, so members below this need not affect the fingerprint. */
const DEPTH_MAX = 32;

function canonical(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth === DEPTH_MAX) return '"…"';
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, depth + 1)).join()}]`;
  return `{${sorted(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member, depth + 1)}`)
    .join()}}`;
}

function sorted(value: object): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
