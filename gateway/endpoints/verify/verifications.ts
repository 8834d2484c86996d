import type { Db } from 'mongodb';
import { z } from 'zod';
import { countryOf } from '../../../shared/carriers/routing/country.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import {
  type SecondTry,
  stateAt,
  VERIFICATION_DAYS,
  type VerificationDocument,
  verificationsOf,
} from '../../../shared/messages/document/verification.ts';
import { prefixOf } from '../../../shared/messages/traffic/hold.ts';
import { findCommitted } from '../../../shared/platform/mongo/find-one.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import {
  idTime,
  isVerificationId,
  lowestId,
  type MessageId,
  newId,
  type VerificationCheckId,
} from '../../../shared/platform/runtime/ids.ts';
import { type Call, done, endpoint, type Gateway, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { Fault, type Fields, matching, optional, otherwise, required, string } from '../../http/fields/field.ts';
import { recipient } from '../../http/fields/message-fields.ts';
import { cursorOf, limit, pageOfFound, readsPer, wholeOf } from '../../http/fields/query.ts';
import { request } from '../../http/fields/request.ts';
import type { Attempt, Verdict } from '../../http/idempotency/action.ts';
import { PROBLEMS } from '../../http/problem.ts';
import { MessageId as MessageIdShape } from '../messages/shapes.ts';
import { RECIPIENT } from '../sms/message-order.ts';
import { VerificationIdShape } from './verify.ts';

const CheckResult = success('VerifyCheckResult', 'Whether the code is right.', {
  verification_id: VerificationIdShape,
  to: RECIPIENT,
  valid: flag('Whether it is the code. It is true once for each verification.', true),
  state: z.enum(['approved', 'pending', 'failed']).meta({
    description:
      '`approved`: it is right. `pending`: it is wrong, and may be tried again. `failed`: too many were wrong.',
  }),
  attempts_left: whole('How many more codes may be tried.', { minimum: 0, example: 4 }),
});

const BODY = request(
  {
    verification_id: optional(
      string({ description: 'Which verification.', pattern: '^vrf_[0-9a-hjkmnp-tv-z]{26}$' }, (given) =>
        isVerificationId(given)
          ? given
          : new Fault('invalid_value', 'It must be the `verification_id` that `POST /v2/verify` answered.'),
      ),
    ),
    to: optional(recipient('sms')),
    code: required(matching('What the person entered: digits.', /^[0-9]{4,10}$/, '4 to 10 digits')),
  },
  [{ names: ['verification_id', 'to'], surplus: 'to' }],
);

export const verifyCheck = endpoint({
  id: 'verifyCheck',
  call: 'verifications.check',
  method: 'post',
  path: '/v2/verify/check',
  tag: 'SMS',
  summary: 'Check a code',
  description:
    'Extension. Of the verification with this id, or of the newest one of this number. `valid` alone says whether the code is right: it is true once, then the verification has ended. Each code that is tried counts; of several at the same moment each is an attempt of its own. What has ended is answered with 409, whatever the code. A request that is repeated with its Idempotency-Key gets its answer again and counts once.',
  scopes: [['send', 'otp']],
  test: 'apart',
  body: BODY,
  answer: CheckResult,
  problems: ['verification_not_found', 'verification_ended'],
  examples: {
    body: {
      'by id': { verification_id: 'vrf_01m7znjn7hdb5pft3awkb6pgvz', code: '471100' },
      'by number': { to: '919876543210', code: '471100' },
    },
  },
  newId: ({ clock }) => newId('vck', clock.now().getTime()),
  action: (deps) => ({
    act: (call, attempt) => check(deps, call, attempt),
    async recover(account, id) {
      const found = await findCommitted(verificationsOf(deps.db), { check: id, account });
      return found === null ? undefined : { kind: 'accepted', body: checkResult(found) };
    },
  }),
});

/** A turn of the loop that writes nothing means that another check was written; there are few. */
async function check(
  { db, clock, box }: Gateway,
  { caller, body }: Pick<Call<Fields, typeof BODY.fields>, 'caller' | 'body'>,
  { id }: Attempt<VerificationCheckId>,
): Promise<Verdict> {
  const verifications = verificationsOf(db);
  const account = caller.account._id;
  const { verification_id: wanted, to, code } = body;
  let newest = wanted;
  if (to !== undefined) {
    const found = await verifications.findOne({ account, to }, { sort: { _id: -1 }, projection: { _id: 1 } });
    newest = found?._id;
  }
  if (newest === undefined) return refused('verification_not_found');
  for (;;) {
    const found = await findCommitted(verifications, { _id: newest, account });
    if (found === null) return refused('verification_not_found');
    const now = clock.now();
    const before = stateAt(found, now);
    if (before !== 'pending') {
      return refused('verification_ended', {
        detail: `It is ${before}. ${PROBLEMS.verification_ended.advice}`,
        extra: { state: before },
      });
    }
    const { _id, codeHash = '', expiresAt, maxAttempts, second } = found;
    const attempts = found.attempts + 1;
    const isRight = box.matches(code, codeHash, _id);
    const state = isRight ? 'approved' : attempts < maxAttempts ? 'pending' : 'failed';
    const over = state !== 'pending';
    const { matchedCount } = await verifications.updateOne(
      {
        ...{ _id, state: 'pending', attempts: found.attempts, expiresAt },
        ...(second && { 'second.due': second.due ?? { $exists: false } }),
      },
      {
        $set: { state, attempts, check: id, ...(over && { decidedAt: now }) },
        ...(over && {
          $unset: { codeHash: '', ...(second && withoutSecond(second)) },
          $push: { unannounced: { event: state, at: now } },
        }),
      },
    );
    if (matchedCount === 0) continue;
    if (isRight && found.channel === 'chatapp') await arrived(db, found.message);
    return { kind: 'accepted', body: checkResult({ ...found, state, attempts }) };
  }
}

/** Also stops the second try, except one already decided, whose result must still be found out. */
function withoutSecond({ decided }: SecondTry) {
  return { 'second.sealed': '', ...(decided === undefined && ({ 'second.due': '' } as const)) } as const;
}

/** Whoever has the code needs no SMS in place of the message. After a crash here the SMS is sent. */
async function arrived(db: Db, message: MessageId): Promise<void> {
  await db
    .collection<ChatMessageDocument>('messages')
    .updateOne(
      { _id: message, 'fallback.due': { $exists: true }, 'fallback.decided': { $exists: false } },
      { $unset: { 'fallback.due': '' }, $inc: { v: 1 } },
    );
}

/** A verification that expired since was pending when it was checked. */
function checkResult({
  _id,
  to,
  state: stored,
  attempts,
  maxAttempts,
}: Pick<VerificationDocument, '_id' | 'to' | 'state' | 'attempts' | 'maxAttempts'>): Shown<typeof CheckResult> {
  const state = stored === 'expired' ? 'pending' : stored;
  const left = state === 'pending' ? maxAttempts - attempts : 0;
  return done({ verification_id: _id, to, valid: state === 'approved', state, attempts_left: left });
}

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
  message_id: MessageIdShape.describe('The message that had the code. It is kept as long as other messages.'),
  fallback: z
    .strictObject({
      channel: z.literal('chatapp'),
      after_seconds: whole('How long the code had to be given back.', { minimum: 10, example: 45 }),
      state: z.enum(['waiting', 'not_needed', 'going', 'sent', 'refused']).meta({
        description:
          '`waiting`: the code may still be given back. `not_needed`: it was, or too many were wrong. `going`: it is decided that the message goes. `sent`: it is paid for; it has an id and a status of its own. `refused`: it could not go.',
      }),
      due_at: time('While it waits: when it goes.').optional(),
      message_id: MessageIdShape.describe('Id of the chat-app message.').optional(),
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
  reads: readsPer(100),
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

/** Only the newest of more are counted. */
const COUNTED_MAX = 10_000;
/** Lets other work of the event loop run in between. */
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
