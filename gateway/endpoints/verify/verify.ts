import { randomInt } from 'node:crypto';
import { z } from 'zod';
import {
  VERIFICATION_DAYS,
  type VerificationDocument,
  verificationsOf,
} from '../../../shared/messages/document/verification.ts';
import { endChatAttempt, findAcceptedChat } from '../../../shared/money/conversations/accepted.ts';
import { declareOver } from '../../../shared/money/payment/pay-by.ts';
import { findCommitted } from '../../../shared/platform/mongo/find-one.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import {
  isTestAccount,
  newId,
  type VerificationId,
  verificationMessageId,
} from '../../../shared/platform/runtime/ids.ts';
import { type Call, endpoint, type Gateway, type Shown } from '../../api/endpoint.ts';
import { id, success, text as textShape, time } from '../../api/shapes.ts';
import { callerNetwork, plainAddress } from '../../http/caller-address.ts';
import type { JsonObject } from '../../http/context.ts';
import {
  choice,
  Fault,
  type Fields,
  list,
  number,
  optional,
  required,
  string,
  type Values,
  withDefault,
} from '../../http/fields/field.ts';
import { dryRun, recipient, reference, sender, templateId } from '../../http/fields/message-fields.ts';
import { type Rule, readRequest, request } from '../../http/fields/request.ts';
import type { Attempt, Verdict } from '../../http/idempotency/action.ts';
import { PROBLEMS, type ProblemSlug } from '../../http/problem.ts';
import { fallback } from '../chatapp/fallback.ts';
import { EXTENSIONS, text } from '../chatapp/fields.ts';
import { ChatDryRun } from '../chatapp/send.ts';
import { chatappSend, TEMPLATE, templateSend } from '../chatapp/send-template.ts';
import { recipientsOver } from '../limits/recipient-hours.ts';
import { type AroundPayment, countedWithin, type HourlyLimit, mayBeSent } from '../limits/recipients.ts';
import { MessageId } from '../messages/shapes.ts';
import { RECIPIENT, REFUSALS, SendDryRun } from '../sms/message-order.ts';
import { findAccepted, SEND_BODY, sendOne } from '../sms/send.ts';

/** Stands in texts and values where the code goes. */
const CODE = '{code}';
/** The code of tests is the beginning of this, so that whoever tests can give it, and a wrong one. */
const TEST_DIGITS = '1234567890';
const DAY_MS = 86_400_000;
/** Of the life of a code, for the SMS in place of a chat-app message. */
const LAST_SECONDS = 30;

export const VerificationIdShape = id('vrf', 'Id of the verification.', 'vrf_01m7znjn7hdb5pft3awkb6pgvz');

const VerifyResult = success('VerifyResult', 'A code is on its way.', {
  verification_id: VerificationIdShape,
  to: RECIPIENT,
  channel: z.enum(['sms', 'chatapp']).meta({ description: 'Where it goes first.' }),
  state: z.literal('pending').meta({ description: 'It waits for `POST /v2/verify/check`.' }),
  message_id: MessageId.describe('The message that has the code. Its text is shown masked, to everybody.'),
  expires_at: time('Until when the code is taken.', '2026-11-22T14:12:11+00:00'),
  test_code: textShape('With a test key: the code.', { pattern: '^[0-9]{4,10}$', example: '123456' }).optional(),
});

const VerifyAnswer = z.union([VerifyResult, SendDryRun, ChatDryRun]).meta({
  id: 'VerifyAnswer',
  description:
    '`VerifyResult`; to a request with `dry_run`, `SendDryRun` or `ChatDryRun`: they alone have the member `dry_run`.',
});

const within = (description: string, minimum: number, maximum: number) =>
  number({ description, minimum, maximum, type: 'integer' });

const NO_CODE = 'It must have `{code}` where the code goes.';
const MESSAGE_MAX = 1_600;

const FIELDS = {
  to: required(recipient('sms')),
  channel: withDefault(
    choice(['sms', 'chatapp'], 'Where the code goes first. With `chatapp`, `fallback` is the second try, by SMS.'),
    'sms',
  ),
  sender: optional(sender),
  message: optional(
    string(
      {
        description:
          'SMS: its text, with `{code}` where the code goes. Under DLT it must match an approved template of the sender. Give `message` or `template_id`.',
        minLength: 1,
        maxLength: MESSAGE_MAX,
        pattern: '\\{code\\}',
      },
      (given) => {
        if (given.length > MESSAGE_MAX) {
          return new Fault('too_long', `It may have at most ${MESSAGE_MAX} characters.`);
        }
        return given.includes(CODE) ? given : new Fault('invalid_value', NO_CODE);
      },
    ),
  ),
  template_id: templateId,
  template: optional(
    text({
      description: 'Chat-app: name of an approved template, best one of the category authentication.',
      maxLength: 512,
    }),
  ),
  language: optional(text({ description: 'Chat-app: its language code.', maxLength: 32 })),
  params: optional(
    list(
      string({}, (given) => given),
      {
        description:
          'Values of the template, in order, one of them with `{code}`. Left out: the code is the only value.',
        maxItems: 250,
      },
    ),
  ),
  from: EXTENSIONS.from,
  fallback,
  code_length: withDefault(within('Digits of the code.', 4, 10), 6),
  expires_in: withDefault(within('How long the code is taken, in seconds.', 60, 3_600), 600),
  max_attempts: withDefault(within('How many codes may be tried; the right one counts too.', 1, 10), 5),
  client_ip: optional(
    string(
      {
        description:
          'The address of whoever asked you for the code. It is stored nowhere but in the count of its network, which gets only so many codes in an hour.',
        maxLength: 64,
      },
      (given) => {
        const address = plainAddress(given);
        return address === undefined ? new Fault('invalid_value', 'It must be an IP address.') : callerNetwork(address);
      },
    ),
  ),
  reference,
  dry_run: dryRun,
};

type VerifyFields = typeof FIELDS;

const OF_CHANNEL = {
  sms: ['sender', 'message', 'template_id'],
  chatapp: ['template', 'language', 'from', 'fallback'],
} as const;

const fieldsOfChannel: Rule<VerifyFields> = ({ channel }, has, problems) => {
  if (channel === undefined) return;
  const other = channel === 'sms' ? 'chatapp' : 'sms';
  for (const name of OF_CHANNEL[other].filter(has)) {
    const place = other === 'sms' ? ' The SMS that may go in its place is in `fallback`.' : '';
    problems.add(name, 'conflict', `It belongs to the channel ${other}.${place}`);
  }
};

const codeHasPlace: Rule<VerifyFields> = ({ params, fallback: sms, expires_in: expires }, _has, problems) => {
  if (params?.some((one) => one.includes(CODE)) === false) problems.add('params', 'invalid_value', NO_CODE);
  if (sms === undefined) return;
  if (expires !== undefined && sms.after_seconds > expires - LAST_SECONDS) {
    const detail = `The SMS needs ${LAST_SECONDS} seconds before the code ends: it must be ${expires - LAST_SECONDS} at most, or \`expires_in\` longer.`;
    problems.add('fallback.after_seconds', 'out_of_range', detail);
  }
  const { message, template_id: template, params: values } = sms;
  if (message?.text.includes(CODE) === false) problems.add('fallback.message', 'invalid_value', NO_CODE);
  if (template !== undefined && values.length > 0 && !values.some((one) => one.includes(CODE))) {
    problems.add('fallback.params', 'invalid_value', NO_CODE);
  }
};

/** A code made by the gateway, sent as the most urgent message, and known to nobody but who gets it. */
export const verify = endpoint({
  id: 'verify',
  call: 'verifications.start',
  method: 'post',
  path: '/v2/verify',
  tag: 'SMS',
  summary: 'Send a code that is to be given back',
  description:
    'Extension. The gateway makes a code, sends it with the priority `otp`, and keeps a keyed hash of it; `POST /v2/verify/check` says whether a code is right. It is checked and charged like a send of that channel. A number gets 5 codes of an account in a clock hour, a `client_ip` 20 (settings); what is beyond is refused before it is charged. The message expires with the code, its text is shown masked to everybody, and it cannot be sent again. With a test key the code is 1234567890, cut to `code_length`, the answer has it (`test_code`), and the hourly limits do not hold.',
  scopes: [['send', 'otp']],
  test: 'apart',
  body: request(FIELDS, [], [fieldsOfChannel, codeHasPlace]),
  answer: VerifyAnswer,
  problems: ['verification_limit_reached', ...new Set<ProblemSlug>([...REFUSALS, ...(chatappSend.problems ?? [])])],
  examples: {
    body: {
      sms: { to: '919876543210', sender: 'HARKRA', message: 'Your code is {code}', client_ip: '203.0.113.7' },
      'DLT template': {
        ...{ to: '919876543210', sender: 'HARKRA', template_id: '1107160000000000001', params: ['{code}'] },
        ...{ code_length: 4, expires_in: 300, max_attempts: 3 },
      },
      'chat-app, then SMS': {
        ...{ to: '919876543210', channel: 'chatapp', template: 'login_code', language: 'en_US' },
        fallback: { channel: 'sms', after_seconds: 30, sender: 'HARKRA', message: 'Your code is {code}' },
      },
    },
    answer: {
      'on its way': {
        ...{ status: 'success', verification_id: 'vrf_01m7znjn7hdb5pft3awkb6pgvz', to: '919876543210' },
        ...{ channel: 'sms', state: 'pending', message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz' },
        expires_at: '2026-11-22T14:12:11+00:00',
      },
    },
  },
  newId: ({ clock }) => newId('vrf', clock.now().getTime()),
  action: (deps) => ({
    act: (call, attempt) => start(deps, call, attempt),
    async end(account, verification, payBy) {
      const found = await findCommitted(verificationsOf(deps.db), { _id: verification, account });
      // One that is not stored yet is not paid for either, and its message must not be stored without being paid for.
      if (found?.channel === 'sms') return declareOver(deps.db, account, payBy);
      return endChatAttempt(deps.db, account, verificationMessageId(verification), payBy);
    },
    async recover(account, verification) {
      const found = await findCommitted(verificationsOf(deps.db), { _id: verification, account });
      if (found === null) return undefined;
      const find = found.channel === 'sms' ? findAccepted : findAcceptedChat;
      const message = await find(deps.db, account, found.message);
      return message && { kind: 'accepted', body: verifyResult(found) };
    },
  }),
});

async function start(
  deps: Gateway,
  { caller, told, body: given }: Pick<Call<Fields, VerifyFields>, 'caller' | 'told' | 'body'>,
  { id: verification, payBy }: Attempt<VerificationId>,
): Promise<Verdict> {
  const { db, clock, box, config } = deps;
  const account = caller.account._id;
  const { to, channel, reference: own, code_length: length, expires_in: seconds, dry_run: dry } = given;
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + seconds * 1_000);
  // Nothing is sent with the code of a dry run, and whoever reads its answer learns none.
  const code = isTestAccount(account) ? TEST_DIGITS.slice(0, length) : dry ? '0'.repeat(length) : newCode(length);
  const limits = isTestAccount(account) ? [] : limitsOf(config, given);
  if (dry) {
    for (const { names, most, problemOf } of limits) {
      const over = await recipientsOver(db, account, names, most, now);
      const problem = over.size > 0 ? await problemOf(over) : undefined;
      if (problem !== undefined) return { kind: 'refused', problem };
    }
  }
  const document: VerificationDocument = {
    ...{ _id: verification, account, to, channel, message: verificationMessageId(verification) },
    ...{ codeHash: box.hash(code, verification), codeLength: length, state: 'pending', attempts: 0 },
    ...{ maxAttempts: given.max_attempts, expiresAt, ...defined({ reference: own }) },
    removeAt: new Date(now.getTime() + Math.min(VERIFICATION_DAYS, config.messageDays) * DAY_MS),
  };
  /** Stored first: a code that nobody can check must not be paid for. */
  const stored: AroundPayment = async (pay) => {
    await insertNew(db, 'verifications', [document]);
    const outcome = await pay();
    if (!mayBeSent(outcome)) await verificationsOf(db).deleteOne({ _id: verification });
    return outcome;
  };
  const around = limits.reduce<AroundPayment>(
    (inner, limit) => (pay) => countedWithin(deps, caller.account, limit, () => inner(pay)),
    stored,
  );
  const context = { account: caller.account, now, config };
  const attempt = { id: document.message, payBy };
  const verdict = channel === 'sms' ? await sendSms() : await sendTemplate();
  return verdict.kind === 'accepted' ? { kind: 'accepted', body: verifyResult(document) } : verdict;

  async function sendSms(): Promise<Verdict> {
    const read = await readRequest(SEND_BODY, smsBody(given, code, expiresAt), context);
    return sendOne(deps, { caller, told }, read, attempt, { verification }, around);
  }

  async function sendTemplate(): Promise<Verdict> {
    const json = templateBody(given, code, expiresAt);
    const read = await readRequest(TEMPLATE, json, context);
    return templateSend(deps, { verification, around }).act({ caller, told, read, json }, attempt);
  }
}

/** The fields of `POST /v2/send`, with the code in its place. */
function smsBody(given: Values<VerifyFields>, code: string, expiresAt: Date): JsonObject {
  const { sender: from, template_id: template } = given;
  return {
    ...common(given, expiresAt),
    ...defined({ sender: from }),
    priority: 'otp',
    ...(template === undefined
      ? defined({ message: given.message && withCode(given.message, code), params: given.params })
      : { template_id: template, params: valuesWith(code, given.params), ...defined({ message: given.message }) }),
  };
}

/** The fields of `POST /v2/chatapp/send`. */
function templateBody(given: Values<VerifyFields>, code: string, expiresAt: Date): JsonObject {
  const { template, language, from, fallback: sms } = given;
  const { message, template_id: dlt, params = [], ...rest } = sms ?? {};
  const words =
    dlt === undefined
      ? { message: message && withCode(message.text, code) }
      : { template_id: dlt, params: valuesWith(code, params) };
  return {
    ...common(given, expiresAt),
    ...defined({ template, language, from }),
    params: valuesWith(code, given.params),
    ...(sms && { fallback: { ...defined(rest), ...defined(words), priority: 'otp' } }),
  };
}

function common({ to, reference: own, dry_run }: Values<VerifyFields>, expiresAt: Date) {
  return { to, valid_until: isoTimestamp(expiresAt), dry_run, ...defined({ reference: own }) };
}

function withCode(words: string, code: string): string {
  return words.replaceAll(CODE, code);
}

function valuesWith(code: string, params: readonly string[] = []): readonly string[] {
  return (params.length === 0 ? [CODE] : params).map((one) => withCode(one, code));
}

/** Every code is as likely as any other. */
function newCode(length: number): string {
  return Array.from({ length }, () => randomInt(10)).join('');
}

function limitsOf(
  { verifyPerNumber, verifyPerClient }: Gateway['config'],
  { to, client_ip: client }: Values<VerifyFields>,
): readonly HourlyLimit[] {
  const limit = (field: 'to' | 'client_ip', whose: string, name: string, most: number): HourlyLimit => ({
    names: [`verify ${name}`],
    most,
    problemOf() {
      const detail = `${whose} may be sent ${most === 1 ? '1 code' : `${most} codes`} of the account in a clock hour. ${PROBLEMS.verification_limit_reached.advice}`;
      return ['verification_limit_reached', { detail, extra: { limit: field } }];
    },
  });
  const ofNumber = limit('to', 'This number', to, verifyPerNumber);
  return client === undefined
    ? [ofNumber]
    : [ofNumber, limit('client_ip', 'The network of this client', client, verifyPerClient)];
}

function verifyResult({
  _id,
  account,
  to,
  channel,
  message,
  expiresAt,
  codeLength,
}: VerificationDocument): Shown<typeof VerifyResult> {
  return {
    ...{ status: 'success', verification_id: _id, to, channel, state: 'pending', message_id: message },
    expires_at: isoTimestamp(expiresAt),
    ...(isTestAccount(account) && { test_code: TEST_DIGITS.slice(0, codeLength) }),
  };
}
