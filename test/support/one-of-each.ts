import type { Db } from 'mongodb';
import { TEMPLATES } from '../../scripts/simulator/provider/templates.ts';
import { recordInbound } from '../../shared/money/conversations/conversation.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { createTemplate } from '../../shared/templates/sms/store.ts';
import { makeTemplate } from '../shared/templates/sms/make.ts';
import { CUSTOMER } from './chat-gateway.ts';
import { copyTemplates, makeProvider, NUMBER } from './chatapp.ts';
import { operations } from './openapi.ts';

/** Paths about an account's own things. */
const OWN = /^\/v2\/(?!admin\/)/;

/** Makes what the document's examples assume: their templates, a provider, a customer who wrote. */
export async function furnish(db: Db, account: AccountId): Promise<void> {
  await createTemplate(db, systemClock, account, makeTemplate({ dltId: '1107160000000000001', senders: ['HARKRA'] }));
  await makeProvider(db, account);
  await copyTemplates(db, account, TEMPLATES);
  await recordInbound(db, [{ account, customer: CUSTOMER, number: NUMBER, at: new Date() }]);
}

/** The ids in answers to an account, by their member, such as `message_id`. */
export type Ids = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Sends every example that makes something, as the owner with these headers. Returns the ids of everything that the
 * account then has. New endpoints' examples need no change here.
 */
export async function oneOfEach(url: string, headers: Readonly<Record<string, string>>): Promise<Ids> {
  const ids = new Map<string, Set<string>>();
  for (const { method, path, operation } of operations) {
    if (method !== 'post' || !OWN.test(path) || path.includes('{') || isForNobody(operation['x-scope'])) continue;
    for (const { value } of Object.values(operation.requestBody?.content?.['application/json']?.examples ?? {})) {
      noteIds((await askAs(url + path, headers, 'post', moved(value))).text, ids);
    }
  }
  for (const { method, path } of operations) {
    if (method !== 'get' || !OWN.test(path) || path.includes('{')) continue;
    noteIds((await askAs(url + path, headers)).text, ids);
  }
  return ids;
}

function noteIds(text: string, ids: Map<string, Set<string>>): void {
  for (const [, name = '', id = ''] of text.matchAll(/"(\w+_id)":"([^"]+)"/g)) {
    if (name === 'request_id') continue;
    ids.set(name, (ids.get(name) ?? new Set()).add(id));
  }
}

/** An answer without request ids. An endless stream gives an empty text. */
export async function askAs(
  url: string,
  headers: Readonly<Record<string, string>>,
  method = 'get',
  body: object = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const ended = new AbortController();
  const hasBody = ['post', 'put', 'patch'].includes(method);
  const answer = await fetch(url, {
    method: method.toUpperCase(),
    headers: { ...headers, ...(method !== 'get' && { 'Content-Type': 'application/json' }) },
    ...(hasBody && { body: JSON.stringify(body) }),
    signal: ended.signal,
  });
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const text = isStream ? '' : (await answer.text()).replaceAll(/req_[0-9a-z]{26}/g, '');
  ended.abort();
  return { status: answer.status, text };
}

/** Requests that need no right: signing in, and ending the caller's own session. */
function isForNobody(scope: string | undefined): boolean {
  return scope === undefined || scope.startsWith('none: ');
}

/** Moves the schedule time to tomorrow, because the example's passes some day. */
export function moved(body: unknown): object {
  const { schedule_time: time, ...rest } = Object(body);
  return time === undefined ? rest : { ...rest, schedule_time: new Date(Date.now() + 86_400_000).toISOString() };
}
