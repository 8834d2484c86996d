import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { PRIORITIES, ROUTES } from '../../../shared/messages/document/routing.ts';
import {
  type SecondMessage,
  type SecondTry,
  VERIFICATION_DAYS,
  type VerificationDocument,
  verificationsOf,
} from '../../../shared/messages/document/verification.ts';
import type { ChatDraft } from '../../../shared/money/conversations/decide.ts';
import { endChatAttempt, findAcceptedChat } from '../../../shared/money/conversations/include.ts';
import { declareOver } from '../../../shared/money/payment/debit.ts';
import { findAccepted } from '../../../shared/money/payment/pending.ts';
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
import { id, named, success, text as textShape, time, whole } from '../../api/shapes.ts';
import { callerNetwork, plainAddress } from '../../http/caller-address.ts';
import type { JsonObject } from '../../http/context.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import {
  choice,
  Fault,
  type Fields,
  type Kind,
  list,
  number,
  optional,
  required,
  string,
  type Values,
  withDefault,
} from '../../http/fields/field.ts';
import { dryRun, recipient, reference, sender, templateId } from '../../http/fields/message-fields.ts';
import { nested, type Rule, readRequest, request } from '../../http/fields/request.ts';
import type { Attempt, Verdict } from '../../http/idempotency/action.ts';
import { PROBLEMS, type ProblemSlug } from '../../http/problem.ts';
import { AFTER_SECONDS, below, placeOf } from '../chatapp/fallback.ts';
import { EXTENSIONS, text } from '../chatapp/fields.ts';
import { ChatDryRun } from '../chatapp/send.ts';
import { chatappSend, TEMPLATE, templateSend } from '../chatapp/send-template.ts';
import {
  type AroundPayment,
  countedWithin,
  type HourlyLimit,
  mayBeSent,
  recipientsOver,
} from '../limits/recipients.ts';
import { MessageId } from '../messages/shapes.ts';
import { RECIPIENT, REFUSALS, SendDryRun } from '../sms/message-order.ts';
import { SEND_BODY, sendOne } from '../sms/send.ts';

/** Marks the code's place in texts and values. */
const CODE = '{code}';
/** Codes of tests are its beginning, so that testers know right and wrong ones. */
const TEST_DIGITS = '1234567890';
const DAY_MS = 86_400_000;
/** Of the code's life, reserved for the second try. */
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

const VerifySmsDryRun = named('VerifySmsDryRun', 'The answer to `dry_run` of a code that goes by SMS first.', {
  ...SendDryRun.shape,
  fallback: z
    .strictObject({
      credits_required: whole('What it costs beside the SMS, if it goes: 0 in a conversation that is paid already.', {
        minimum: 0,
        example: 2,
      }),
    })
    .meta({ description: 'Of the chat-app message that is the second try.' })
    .optional(),
});

const VerifyAnswer = z.union([VerifyResult, VerifySmsDryRun, ChatDryRun]).meta({
  id: 'VerifyAnswer',
  description:
    '`VerifyResult`; to a request with `dry_run`, `VerifySmsDryRun` or `ChatDryRun`: they alone have the member `dry_run`.',
});

const within = (description: string, minimum: number, maximum: number) =>
  number({ description, minimum, maximum, type: 'integer' });

const NO_CODE = 'It must have `{code}` where the code goes.';
const MESSAGE_MAX = 1_600;
const EXPIRES_MAX = 3_600;

const CHANNELS = ['sms', 'chatapp'] as const;

/** The words by channel: of the request for the first channel, of `fallback` for the second. */
const WORDS = {
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
      (given) =>
        given.length > MESSAGE_MAX ? new Fault('too_long', `It may have at most ${MESSAGE_MAX} characters.`) : given,
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
};

const OF_CHANNEL = {
  sms: ['sender', 'message', 'template_id', 'route', 'priority'],
  chatapp: ['template', 'language', 'from'],
} as const;

type WordsByChannel = typeof WORDS & { readonly channel: Kind<(typeof CHANNELS)[number]> };

const wordsOfChannel: Rule<WordsByChannel> = ({ channel, message, params }, has, problems) => {
  if (message?.includes(CODE) === false) problems.add('message', 'invalid_value', NO_CODE);
  if (params?.some((one) => one.includes(CODE)) === false) problems.add('params', 'invalid_value', NO_CODE);
  if (channel === undefined) return;
  const other = channel === 'sms' ? 'chatapp' : 'sms';
  for (const name of OF_CHANNEL[other].filter(has)) {
    problems.add(name, 'conflict', `It belongs to the channel ${other}. What goes second stands in \`fallback\`.`);
  }
};

const SECOND = {
  channel: required(choice(CHANNELS, 'The other channel.')),
  after_seconds: required(
    within(
      `How long the first try has, from now: a chat-app message to be delivered, an SMS until its code is given back. Ends ${LAST_SECONDS} seconds before the code ends.`,
      AFTER_SECONDS.minimum,
      EXPIRES_MAX - LAST_SECONDS,
    ),
  ),
  ...WORDS,
  route: optional(choice(ROUTES, 'SMS: kind of traffic. Codes go as `transactional`.')),
  priority: optional(choice(PRIORITIES, 'SMS: codes go as `otp`, whatever is given.')),
};

type Second = Values<typeof SECOND>;

const FIELDS = {
  to: required(recipient('sms')),
  channel: withDefault(
    choice(CHANNELS, 'Where the code goes first. `fallback` says what goes second, if anything.'),
    'sms',
  ),
  ...WORDS,
  fallback: optional(nested(request(SECOND))),
  code_length: withDefault(within('Digits of the code.', 4, 10), 6),
  expires_in: withDefault(within('How long the code is taken, in seconds.', 60, EXPIRES_MAX), 600),
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

/** Rules of `fallback` itself are checked only when its fields are right. */
const secondIsSecond: Rule<VerifyFields> = ({ channel, fallback, expires_in: expires }, _has, problems) => {
  if (fallback === undefined) return;
  const own = new FieldProblems();
  wordsOfChannel(fallback, (name) => Object.hasOwn(fallback, name), own);
  if (fallback.channel === channel) {
    own.add('channel', 'conflict', 'The code goes there first. Give the other channel.');
  }
  if (expires !== undefined && fallback.after_seconds > expires - LAST_SECONDS) {
    const detail = `The second try needs ${LAST_SECONDS} seconds before the code ends: it must be ${expires - LAST_SECONDS} at most, or \`expires_in\` longer.`;
    own.add('after_seconds', 'out_of_range', detail);
  }
  for (const { field, code, detail } of own.listed) problems.add(`fallback.${field}`, code, detail);
};

/** The gateway makes a code, sends it as the most urgent message, and reveals it to nobody else. */
export const verify = endpoint({
  id: 'verify',
  call: 'verifications.start',
  method: 'post',
  path: '/v2/verify',
  tag: 'SMS',
  summary: 'Send a code that is to be given back',
  description:
    'Extension. The gateway makes a code, sends it with the priority `otp`, and keeps a keyed hash of it; `POST /v2/verify/check` says whether a code is right. It is checked and charged like a send of that channel. `fallback` is the second try, with the same code, by the other channel: an SMS in place of a chat-app message that fails or is not delivered in time (what the conversation cost then comes back), or a chat-app message when the code of an SMS was not given back in time (both are paid for). It is checked now, paid for when it goes, goes once, and not any more when the code was given back; `GET /v2/verifications/{verification_id}` shows what became of it. A number gets 5 codes of an account in a clock hour, a `client_ip` 20 (settings); what is beyond is refused before it is charged. The message expires with the code, its text is shown masked to everybody, and it cannot be sent again. With a test key the code is 1234567890, cut to `code_length`, the answer has it (`test_code`), and the hourly limits do not hold.',
  scopes: [['send', 'otp']],
  test: 'apart',
  body: request(FIELDS, [], [wordsOfChannel, secondIsSecond]),
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
      'SMS, then chat-app': {
        ...{ to: '919876543210', sender: 'HARKRA', message: 'Your code is {code}' },
        fallback: { channel: 'chatapp', after_seconds: 45, template: 'login_code', language: 'en_US' },
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
      // A verification that is not stored is not paid for either, and its message must not be stored unpaid.
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
  // A dry run's code is not sent, and reveals none.
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
  const stored =
    (second?: SecondTry): AroundPayment =>
    async (pay) => {
      await insertNew(db, 'verifications', [{ ...document, ...defined({ second }) }]);
      const outcome = await pay();
      if (!mayBeSent(outcome)) await verificationsOf(db).deleteOne({ _id: verification });
      return outcome;
    };
  const around = (second?: SecondTry) =>
    limits.reduce<AroundPayment>(
      (inner, limit) => (pay) => countedWithin(deps, caller.account, limit, () => inner(pay)),
      stored(second),
    );
  const context = { account: caller.account, now, config };
  const attempt = { id: document.message, payBy };
  const verdict = channel === 'sms' ? await sendSms() : await sendTemplate();
  return verdict.kind === 'accepted' ? { kind: 'accepted', body: verifyResult(document) } : verdict;

  async function sendSms(): Promise<Verdict> {
    const read = await readRequest(SEND_BODY, { ...common(given, expiresAt), ...smsWords(given, code) }, context);
    const { fallback } = given;
    if (fallback === undefined) return sendOne(deps, { caller, told }, read, attempt, { verification }, around());
    const foreseen = await foreseeSecond(fallback, read.problems);
    // Faults of both sets of fields are reported together.
    if (foreseen.kind === 'refused' && read.problems.count === 0) return foreseen;
    const second = foreseen.kind === 'refused' ? undefined : secondOf(foreseen.draft, fallback.after_seconds);
    const sent = await sendOne(deps, { caller, told }, read, attempt, { verification }, around(second));
    if (sent.kind !== 'dry_run' || foreseen.kind === 'refused') return sent;
    return { ...sent, body: { ...sent.body, fallback: { credits_required: foreseen.credits } } };
  }

  /** Checked like `POST /v2/chatapp/send`. Problems of its fields are added to the request's. */
  async function foreseeSecond(fallback: Second, problems: FieldProblems) {
    const json = { ...common(given, expiresAt), ...templateWords(fallback, code) };
    const read = await readRequest(TEMPLATE, json, context);
    const foreseen = await templateSend(deps).foresee({ caller, told, read, json }, document.message);
    for (const { field, code: fault, detail } of read.problems.listed) problems.add(placeOf(field), fault, detail);
    return foreseen.kind === 'refused' ? { ...foreseen, problem: below(foreseen.problem) } : foreseen;
  }

  function secondOf({ from, content, keys }: ChatDraft, afterSeconds: number): SecondTry {
    const words: SecondMessage = { from, content, ...defined({ keys }) };
    return {
      ...{ afterSeconds, due: new Date(now.getTime() + afterSeconds * 1_000) },
      sealed: box.seal(JSON.stringify(words), ['verifications', verification, 'second.sealed']),
    };
  }

  async function sendTemplate(): Promise<Verdict> {
    const { fallback } = given;
    const json = {
      ...common(given, expiresAt),
      ...templateWords(given, code),
      ...(fallback && { fallback: smsFallback(fallback, code) }),
    };
    const read = await readRequest(TEMPLATE, json, context);
    return templateSend(deps, { verification, around: around() }).act({ caller, told, read, json }, attempt);
  }
}

type Words = Values<typeof WORDS>;

function smsWords({ sender: from, message, template_id: template, params }: Words, code: string): JsonObject {
  return {
    ...defined({ sender: from, message: message && withCode(message, code) }),
    ...(template === undefined ? defined({ params }) : { template_id: template, params: valuesWith(code, params) }),
    priority: 'otp',
  };
}

function smsFallback({ channel, after_seconds, route, ...words }: Second, code: string): JsonObject {
  return { channel, after_seconds, ...defined({ route }), ...smsWords(words, code) };
}

function templateWords({ template, language, from, params }: Words, code: string): JsonObject {
  return { ...defined({ template, language, from }), params: valuesWith(code, params) };
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
