import type { Db } from 'mongodb';
import { z } from 'zod';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import {
  type SecondTry,
  stateAt,
  type VerificationDocument,
  verificationsOf,
} from '../../../shared/messages/document/verification.ts';
import { findCommitted } from '../../../shared/platform/mongo/find-one.ts';
import {
  isVerificationId,
  type MessageId,
  newId,
  type VerificationCheckId,
} from '../../../shared/platform/runtime/ids.ts';
import { type Call, done, endpoint, type Gateway, refused, type Shown } from '../../api/endpoint.ts';
import { flag, success, whole } from '../../api/shapes.ts';
import { Fault, type Fields, optional, required, string } from '../../http/fields/field.ts';
import { recipient } from '../../http/fields/message-fields.ts';
import { request } from '../../http/fields/request.ts';
import { type Attempt, refusedLate, type Verdict } from '../../http/idempotency/action.ts';
import { PROBLEMS } from '../../http/problem.ts';
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
    code: required(
      string({ description: 'What the person entered: digits.', pattern: '^[0-9]{4,10}$' }, (given) =>
        /^[0-9]{4,10}$/.test(given) ? given : new Fault('invalid_value', 'It must have 4 to 10 digits.'),
      ),
    ),
  },
  [{ names: ['verification_id', 'to'], surplus: 'to' }],
);

/** Says once that a code is right. */
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

/** Each turn of the loop that writes nothing means that somebody else's check was written, of which there are few. */
async function check(
  { db, clock, box }: Gateway,
  { caller, body }: Pick<Call<Fields, typeof BODY.fields>, 'caller' | 'body'>,
  { id, payBy }: Attempt<VerificationCheckId>,
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
    const late = refusedLate(clock, payBy);
    if (late !== undefined) return late;
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

/** Nor does a second try go. What became of one that is decided already must still be found out. */
function withoutSecond({ decided }: SecondTry) {
  return { 'second.sealed': '', ...(decided === undefined && ({ 'second.due': '' } as const)) } as const;
}

/** Whoever has the code needs no SMS in place of the message. If a crash prevents this, the SMS goes. */
async function arrived(db: Db, message: MessageId): Promise<void> {
  await db
    .collection<ChatMessageDocument>('messages')
    .updateOne(
      { _id: message, 'fallback.due': { $exists: true }, 'fallback.decided': { $exists: false } },
      { $unset: { 'fallback.due': '' }, $inc: { v: 1 } },
    );
}

/** What has expired since was pending when it was checked. */
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
