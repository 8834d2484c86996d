import { hash, randomFillSync } from 'node:crypto';
import { systemClock } from './clock.ts';

/**
 * `msg_01jd8x…`: a prefix for the kind and 26 characters, 10 of time (48-bit milliseconds) and 16 random (80 bits),
 * like a ULID in lower case. Ids sort by time, which lets every index grow at its right end.
 *
 * What follows from something has an id *derived* from it (`eventId`), so that doing the follow-up twice writes the
 * same.
 */
type Id<Prefix extends string> = `${Prefix}_${string}`;

export type AccountId = Id<'acc'>;
export type MessageId = Id<'msg'>;
export type BatchId = Id<'bat'>;
export type ScheduleId = Id<'sch'>;
/** One debit and all that it pays for; shared by debits of several accounts that are made by one command. */
export type GroupId = Id<'grp'>;
export type EndpointId = Id<'whk'>;
/** A paid conversation of 24 hours on the chat-app channel. */
export type ConversationId = Id<'cnv'>;
/** Last part of the address that a provider posts to; as hard to guess as a key. */
export type CallbackId = Id<'cbk'>;
/** A person whom an account met on the chat-app channel. */
export type CustomerId = Id<'cus'>;
export type EventId = Id<'evt'>;
export type SenderId = Id<'snd'>;
/** A link, an app or a callback number that is registered to an account. */
export type CtaId = Id<'cta'>;
/** An account's request for a DLT template that has no id of an operator yet. */
export type TemplateRequestId = Id<'tpr'>;
export type InboundId = Id<'inb'>;
export type OptOutId = Id<'opt'>;
/** Lines that wait to be sent (messages/queue/queue-document.ts). */
export type QueueId = Id<'que'>;
/** One grouped claim of a worker, stamped on what it took. */
export type ClaimId = Id<'clm'>;
export type RequestId = Id<'req'>;
/** Deliveries of a webhook since some time that are posted again. */
export type ReplayId = Id<'rpl'>;
/** A file of messages that an account asked for. */
export type ExportId = Id<'exp'>;
/** One change of a setting, in the audit. */
export type AuditId = Id<'aud'>;
export type UserId = Id<'usr'>;
/** A signed-in browser. Shown to its user, and no secret. */
export type SessionId = Id<'ses'>;
export type ErasureId = Id<'ers'>;
export type MailId = Id<'eml'>;
/** A code that somebody is to give back. */
export type VerificationId = Id<'vrf'>;
export type VerificationCheckId = Id<'vck'>;

function idForm<Prefix extends string>(prefix: Prefix): (value: string) => value is Id<Prefix> {
  const form = new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`);
  return (value): value is Id<Prefix> => form.test(value);
}

export const isAccountId = idForm('acc');
export const isAuditId = idForm('aud');
export const isBatchId = idForm('bat');
export const isCallbackId = idForm('cbk');
export const isConversationId = idForm('cnv');
export const isCtaId = idForm('cta');
export const isCustomerId = idForm('cus');
export const isErasureId = idForm('ers');
export const isExportId = idForm('exp');
export const isMailId = idForm('eml');
export const isMessageId = idForm('msg');
export const isOptOutId = idForm('opt');
export const isReplayId = idForm('rpl');
export const isScheduleId = idForm('sch');
export const isSenderId = idForm('snd');
export const isSessionId = idForm('ses');
export const isTemplateRequestId = idForm('tpr');
export const isUserId = idForm('usr');
export const isVerificationId = idForm('vrf');

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_CHARACTERS = 16;
const random = Buffer.alloc(RANDOM_CHARACTERS * 256);
let randomUsed = random.length;
let lastMs = 0;
/** If the clock is further behind the newest id than this, it was set back, and ids follow it. */
const CLOCK_SET_BACK_MS = 60_000;
const tail = new Uint8Array(RANDOM_CHARACTERS);

/** Ids of one process never decrease, also within a millisecond, unless its clock is set back by more than a minute. */
export function newId<Prefix extends string>(prefix: Prefix, nowMs: number = systemClock.now().getTime()): Id<Prefix> {
  if (nowMs > lastMs || lastMs - nowMs > CLOCK_SET_BACK_MS) {
    lastMs = nowMs;
    drawRandomTail();
  } else {
    incrementTail();
  }
  let text = numeral(lastMs, TIME_CHARACTERS);
  for (const value of tail) text += ALPHABET.charAt(value);
  return `${prefix}_${text}` as const;
}

/** 130 random bits: no secret, but nobody can guess the address that another account's provider posts to. */
export function newCallbackId(): CallbackId {
  let text = '';
  for (const byte of randomFillSync(Buffer.alloc(CALLBACK_CHARACTERS))) text += ALPHABET.charAt(byte & 31);
  return `cbk_${text}`;
}

const CALLBACK_CHARACTERS = 26;
/** All ids made before `at` are below it. */
export function lowestId<Prefix extends string>(prefix: Prefix, at: Date): Id<Prefix> {
  return `${prefix}_${numeral(at.getTime(), TIME_CHARACTERS)}${'0'.repeat(RANDOM_CHARACTERS)}` as const;
}

/** The event "this message reached this state". A message reaches a state once. */
export function eventId(message: MessageId, state: string): EventId {
  return `evt_${message.slice(4)}_${state}` as const;
}

/** The message of an `eventId`. */
export function messageOfEvent(event: EventId): MessageId {
  return `msg_${event.slice(4, 4 + TIME_CHARACTERS + RANDOM_CHARACTERS)}`;
}

/** The event "this happened to this thing then". Derived, so that telling it twice writes the same. */
export function thingEventId(thing: string, event: string, at: Date): EventId {
  const text = hashText(`${thing}:${event}`, RANDOM_CHARACTERS);
  return `evt_${numeral(at.getTime(), TIME_CHARACTERS)}${text}_${event.replaceAll('.', '_')}`;
}

/** Derived, so there is one. */
export function mailId(of: string, user: UserId, at: Date): MailId {
  return `eml_${numeral(at.getTime(), TIME_CHARACTERS)}${hashText(`${of}:${user}`, RANDOM_CHARACTERS)}`;
}

const TEST = '_test';

/** The account of a live account's test messages, and of all that follows from them (gateway/access/account.ts). */
export function testAccountOf(live: AccountId): AccountId {
  return `${live}${TEST}`;
}

export function isTestAccount(account: string): boolean {
  return account.endsWith(TEST);
}

/** The account whose senders, templates, webhooks and keys are used: for a test account its live one. */
export function liveAccountOf(account: AccountId): AccountId {
  return isTestAccount(account) ? (account.slice(0, -TEST.length) as AccountId) : account; // by `testAccountOf`
}

export function verificationMessageId(verification: VerificationId): MessageId {
  return `msg_${verification.slice(4)}`;
}

/** Fixed at booking; sorts as if made at the booked time. Derived, so a repeated release writes the same. */
export function releasedId<Prefix extends 'msg' | 'bat'>(prefix: Prefix, schedule: ScheduleId, at: Date): Id<Prefix> {
  return `${prefix}_${numeral(at.getTime(), TIME_CHARACTERS)}${hashText(schedule, RANDOM_CHARACTERS)}` as const;
}

/** With the provider's time, derived from the provider's id: storing it twice writes the same. */
export function inboundMessageId(account: AccountId, upstreamId: string, at: Date): MessageId {
  return `msg_${numeral(at.getTime(), TIME_CHARACTERS)}${hashText(`${account}:${upstreamId}`, RANDOM_CHARACTERS)}`;
}

/** The message of a handset's deliver_sm: derived, so that storing it twice writes the same. */
export function receivedMessageId(inbound: InboundId): MessageId {
  return `msg_${inbound.slice(4)}`;
}

/** The answer to STOP, START or HELP: has that message's time and derives from it, so there is one. */
export function optOutAnswerId(asked: MessageId): MessageId {
  const time = asked.slice(4, 4 + TIME_CHARACTERS);
  return `msg_${time}${hashText(`answer:${asked}`, RANDOM_CHARACTERS)}`;
}

/** The SMS that goes in place of a chat-app message: derived, with the time of that decision. */
export function fallbackId(chat: MessageId, decidedAt: Date): MessageId {
  return `msg_${numeral(decidedAt.getTime(), TIME_CHARACTERS)}${hashText(`fallback:${chat}`, RANDOM_CHARACTERS)}`;
}

/** Derived, with the time of that decision. A second try that certainly never goes is decided anew. */
export function secondTryId(verification: VerificationId, decidedAt: Date): MessageId {
  return `msg_${numeral(decidedAt.getTime(), TIME_CHARACTERS)}${hashText(`second:${verification}`, RANDOM_CHARACTERS)}`;
}

/** A person first met under this name: derived, so it needs no write and outlives what is stored. */
export function customerId(account: AccountId, name: string): CustomerId {
  return `cus_${hashText(`${account}:${name}`, CUSTOMER_CHARACTERS)}`;
}

const CUSTOMER_CHARACTERS = 26;
/** A queue document, from its first message and a number. Derived, so that it is inserted once. */
export function queueId(first: MessageId, number: number): QueueId {
  return `que_${first.slice(4)}_${number}`;
}

/** Like `queueId`, for the documents of a debit command; `which` names one of them. */
export function debitQueueId(group: GroupId, which: string): QueueId {
  return `que_${group.slice(4)}_${hashText(which, RANDOM_CHARACTERS)}`;
}

/** New, but with the time of `first`: messages that wait again leave before what was accepted later. */
export function returnedQueueId(first: MessageId): QueueId {
  return `que_${first.slice(4)}_${newId('que').slice(4)}`;
}

/** The debit that pays for this message and nothing else (messages/follow-on-sms.ts). */
export function ownGroupId(message: MessageId): GroupId {
  return `grp_${message.slice(4)}`;
}

/** A customer's wish about an account or one of its numbers (`scope`). Derived, so there is only one. */
export function optOutId(account: AccountId, customer: string, scope: string): OptOutId {
  return `opt_${hashText(`${account}:${customer}:${scope}`, OPT_OUT_CHARACTERS)}`;
}

const OPT_OUT_CHARACTERS = 26;
/** Derived from who changes what and the minute, so repeats share an audit entry. */
export function minuteAuditId(what: string, at: Date): AuditId {
  const minute = Math.floor(at.getTime() / 60_000) * 60_000;
  return `aud_${numeral(minute, TIME_CHARACTERS)}${hashText(what, RANDOM_CHARACTERS)}`;
}

/** A batch's message id has 26 characters: 10 of the batch's time, 12 of a hash of its id, 4 of the message's index. */
const BATCH_HASH_CHARACTERS = 12;
const BATCH_INDEX_CHARACTERS = 4;

/**
 * The ids of a batch's messages, by index from 0. Derived, so making them twice writes the same; contiguous, so they
 * are a range of `_id` (`batchMessageRange`) and need no index. The hash (60 bits) replaces the random characters of
 * the batch's id, because ids of one millisecond differ only in the last of those.
 */
export function batchMessageIds(batch: BatchId): (index: number) => MessageId {
  const stem = batch.slice(4, 4 + TIME_CHARACTERS) + hashText(batch, BATCH_HASH_CHARACTERS);
  return (index) => `msg_${stem}${numeral(index, BATCH_INDEX_CHARACTERS)}` as const;
}

/** The first and the last id that a message of the batch can have. */
export function batchMessageRange(batch: BatchId): { readonly $gte: MessageId; readonly $lte: MessageId } {
  const idOf = batchMessageIds(batch);
  return { $gte: idOf(0), $lte: idOf(32 ** BATCH_INDEX_CHARACTERS - 1) };
}

/** To the millisecond. */
export function idTime(id: string): Date {
  let ms = 0;
  for (const character of id.slice(id.indexOf('_') + 1, id.indexOf('_') + 11)) {
    ms = ms * 32 + ALPHABET.indexOf(character);
  }
  return new Date(ms);
}

const DAY_MS = 86_400_000;

/** Days since 1970, in UTC. */
export function idDay(id: string): number {
  return Math.floor(idTime(id).getTime() / DAY_MS);
}

/** In the alphabet's 32 digits; texts of equal length sort as the numbers do. */
function numeral(value: number, characters: number): string {
  let text = '';
  for (let i = 0, rest = value; i < characters; i++, rest = Math.floor(rest / 32)) {
    text = ALPHABET.charAt(rest % 32) + text;
  }
  return text;
}

/** The beginning of a hash of `of` in the alphabet, 5 bits a character. */
function hashText(of: string, characters: number): string {
  const digest = hash('sha256', of, 'buffer');
  let text = '';
  for (let i = 0; i < characters; i++) text += ALPHABET.charAt((digest[i] ?? 0) & 31);
  return text;
}

function drawRandomTail(): void {
  if (randomUsed === random.length) {
    randomFillSync(random);
    randomUsed = 0;
  }
  for (let i = 0; i < RANDOM_CHARACTERS; i++) tail[i] = (random[randomUsed + i] ?? 0) & 31;
  // The highest random bit starts clear, so that increments within one millisecond cannot overflow in practice.
  tail[0] = (tail[0] ?? 0) & 15;
  randomUsed += RANDOM_CHARACTERS;
}

function incrementTail(): void {
  for (let i = RANDOM_CHARACTERS - 1; i >= 0; i--) {
    const value = (tail[i] ?? 0) + 1;
    tail[i] = value & 31;
    if (value < 32) return;
  }
}
