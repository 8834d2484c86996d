import { z } from 'zod';
import { countryOf } from '../../../shared/carriers/routing/country.ts';
import {
  type SecondTry,
  stateAt,
  VERIFICATION_DAYS,
  type VerificationDocument,
  verificationsOf,
} from '../../../shared/messages/document/verification.ts';
import { prefixOf } from '../../../shared/messages/traffic/hold.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime, isVerificationId, lowestId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, text, time, whole } from '../../api/shapes.ts';
import { optional, otherwise, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOfFound, wholeOf } from '../../http/fields/query.ts';
import { MessageId } from '../messages/shapes.ts';
import { RECIPIENT } from '../sms/message-order.ts';
import { VerificationIdShape } from './verify.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;

const Verification = named('Verification', {
  verification_id: VerificationIdShape,
  to: RECIPIENT,
  channel: z.enum(['sms', 'chatapp']).meta({ description: 'Where the code went first.' }),
  state: z.enum(['pending', 'approved', 'failed', 'expired']).meta({
    description: '`failed`: too many codes were wrong. `expired`: its time is over.',
    example: 'approved',
  }),
  attempts: whole('Codes that were tried.', { minimum: 0, example: 1 }),
  max_attempts: whole('How many may be.', { minimum: 1, example: 5 }),
  created_at: time(undefined, '2026-11-22T14:02:11+00:00'),
  expires_at: time('Until when the code is taken.', '2026-11-22T14:12:11+00:00'),
  decided_at: time('When it was approved or failed. Null: neither.', '2026-11-22T14:02:40+00:00').nullable(),
  message_id: MessageId.describe('The message that had the code. It is kept as long as other messages.'),
  fallback: z
    .strictObject({
      channel: z.literal('chatapp'),
      after_seconds: whole('How long the code had to be given back.', { minimum: 10, example: 45 }),
      state: z.enum(['waiting', 'not_needed', 'going', 'sent', 'refused']).meta({
        description:
          '`waiting`: the code may still be given back. `not_needed`: it was, or too many were wrong. `going`: it is decided that the message goes. `sent`: it is paid for; it has an id and a status of its own. `refused`: it could not go.',
      }),
      due_at: time('While it waits: when it goes.').optional(),
      message_id: MessageId.describe('Id of the chat-app message.').optional(),
      error_code: text('Why it could not go, as a code.').optional(),
      error_reason: text('Why it could not go, in words.').optional(),
    })
    .meta({
      description:
        'The chat-app message that is the second try of an SMS. The SMS that may go in place of a chat-app message is shown with that message.',
    })
    .optional(),
  reference: text('As it was given.').optional(),
});

export const verifications = endpoint({
  id: 'verifications',
  call: 'verifications.list',
  method: 'get',
  path: '/v2/verifications',
  tag: 'Reading back',
  summary: 'Verifications of the account',
  description: `Extension. Newest first, of the last ${VERIFICATION_DAYS} days. No code is in it. A page counts as one request for each 100 of \`limit\`.`,
  scopes: ['read'],
  test: 'apart',
  query: {
    to: optional(string({ description: 'Only of this number: digits, country code first.' }, (given) => given)),
    limit,
    cursor: cursorOf('verifications', isVerificationId),
  },
  reads: ({ limit: entries }) => Math.ceil(entries / ENTRIES_PER_REQUEST),
  answer: pageShape('VerificationPage', Verification, 'Verifications.'),
  async handle({ db, clock }, { caller, query: { to, limit: entries, cursor } }) {
    const found = await verificationsOf(db)
      .find({
        account: caller.account._id,
        ...(to !== undefined && { to }),
        ...(cursor !== undefined && { _id: { $lt: cursor } }),
      })
      .sort({ _id: -1 })
      .limit(entries + 1)
      .batchSize(entries + 2)
      .toArray();
    return pageOfFound('verifications', found, entries, (one) => record(one, clock.now()));
  },
});

export const verification = endpoint({
  id: 'verification',
  call: 'verifications.get',
  method: 'get',
  path: '/v2/verifications/{verification_id}',
  tag: 'Reading back',
  summary: 'A verification',
  description: 'Extension. Reading it is no attempt.',
  scopes: ['read'],
  test: 'apart',
  params: { verification_id: VerificationIdShape },
  answer: Verification,
  problems: ['verification_not_found'],
  async handle({ db, clock }, { caller, params }) {
    const id = params.verification_id;
    const found = isVerificationId(id)
      ? await verificationsOf(db).findOne({ _id: id, account: caller.account._id })
      : null;
    return found === null ? refused('verification_not_found') : record(found, clock.now());
  },
});

/** Of more than these only the newest are counted. */
const COUNTED_MAX = 10_000;
/** Others get their turn of the event loop in between. */
const READ_AT_ONCE = 500;
const PREFIXES_SHOWN = 50;
const DAY_MS = 86_400_000;

const counts = {
  asked: whole('Codes that were used, failed, or expired.', { minimum: 0, example: 812 }),
  approved: whole('Of these the used ones.', { minimum: 0, example: 731 }),
};

export const verificationRates = endpoint({
  id: 'verificationRates',
  call: 'verifications.rates',
  method: 'get',
  path: '/v2/account/verification-rates',
  tag: 'Reading back',
  summary: 'How many codes are given back',
  description:
    'Extension. By the beginning of the number: the country code and three digits; the 50 with the most codes. A prefix where few are given back while others are as ever looks like fraud (SMS pumping): the brake of the account counts this too.',
  scopes: ['read'],
  test: 'apart',
  query: {
    days: otherwise(wholeOf('The last so many days.', 1, VERIFICATION_DAYS, 1), () => 1),
  },
  reads: COUNTED_MAX / 1_000,
  answer: named('VerificationRates', 'How many codes were given back.', {
    ...counts,
    cut: flag(`There were more: only the newest ${COUNTED_MAX} are counted.`),
    prefixes: z.array(
      named('VerificationRate', 'Of the numbers that begin alike.', {
        prefix: text('The country code and three digits.', { pattern: '^[1-9][0-9]{1,5}$', example: '91987' }),
        country: text('ISO 3166-1. Null: not known.', { example: 'IN' }).nullable(),
        ...counts,
      }),
    ),
  }),
  async handle({ db, clock }, { caller, query: { days } }) {
    const now = clock.now();
    const from = lowestId('vrf', new Date(now.getTime() - days * DAY_MS));
    const newest = verificationsOf(db)
      .find({ account: caller.account._id, _id: { $gte: from } }, { projection: { to: 1, state: 1, expiresAt: 1 } })
      .sort({ _id: -1 })
      .limit(COUNTED_MAX + 1)
      .batchSize(READ_AT_ONCE);
    const total = { asked: 0, approved: 0 };
    const prefixes = new Map<string, typeof total>();
    let looked = 0;
    for await (const one of newest) {
      looked++;
      if (looked > COUNTED_MAX) break;
      const state = stateAt(one, now);
      if (state === 'pending') continue;
      const prefix = prefixOf(one.to);
      const own = prefixes.get(prefix) ?? { asked: 0, approved: 0 };
      prefixes.set(prefix, own);
      for (const count of [total, own]) {
        count.asked++;
        if (state === 'approved') count.approved++;
      }
    }
    return {
      ...total,
      cut: looked > COUNTED_MAX,
      prefixes: [...prefixes]
        .map(([prefix, own]) => ({ prefix, country: countryOf(prefix) ?? null, ...own }))
        .sort((a, b) => b.asked - a.asked)
        .slice(0, PREFIXES_SHOWN),
    };
  },
});

function record(one: VerificationDocument, now: Date): Shown<typeof Verification> {
  const { _id, to, channel, attempts, maxAttempts, expiresAt, decidedAt, message, second, reference } = one;
  return {
    ...{ verification_id: _id, to, channel, state: stateAt(one, now), attempts, max_attempts: maxAttempts },
    created_at: isoTimestamp(idTime(_id)),
    expires_at: isoTimestamp(expiresAt),
    decided_at: decidedAt === undefined ? null : isoTimestamp(decidedAt),
    message_id: message,
    ...(second && { fallback: secondRecord(second) }),
    ...(reference !== undefined && { reference }),
  };
}

function secondRecord({ afterSeconds, due, decided, ended }: SecondTry): Shown<typeof Verification>['fallback'] {
  const state = ended?.kind ?? (due === undefined ? 'not_needed' : decided ? 'going' : 'waiting');
  return {
    ...{ channel: 'chatapp', after_seconds: afterSeconds, state },
    ...(state === 'waiting' && due && { due_at: isoTimestamp(due) }),
    ...(ended?.kind === 'sent' && { message_id: ended.message }),
    ...(ended?.kind === 'refused' && { error_code: ended.code, error_reason: ended.reason }),
  };
}
