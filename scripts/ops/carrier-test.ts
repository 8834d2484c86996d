import { type CarrierDocument, callbackUrl } from '../../shared/carriers/carrier.ts';
import { listConditions } from '../../shared/carriers/carrier-condition.ts';
import { openedPassword, openedTrust } from '../../shared/carriers/carrier-secrets.ts';
import { listCarriers } from '../../shared/carriers/carrier-store.ts';
import { HttpClient } from '../../shared/carriers/http/client.ts';
import { connectionStep } from '../../shared/carriers/http/connection.ts';
import { PROFILES } from '../../shared/carriers/receipt-profiles.ts';
import { RECEIPTS } from '../../shared/carriers/settings/receipts.ts';
import { withDefaults } from '../../shared/carriers/settings/setting.ts';
import type { Deliver } from '../../shared/carriers/smpp/deliver-sm.ts';
import { tlsOptions } from '../../shared/carriers/smpp/socket.ts';
import { encodeSubmit } from '../../shared/carriers/smpp/submit-sm.ts';
import { bindStep, type Step, Trial } from '../../shared/carriers/smpp/trial.ts';
import { planText } from '../../shared/messages/sms-plan.ts';
import { publicUrl } from '../../shared/platform/config/settings.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { candidateKeys, caselessKeys, messageKey } from '../../workers/smpp/dialect/message-ids.ts';
import { ReceiptDialect } from '../../workers/smpp/dialect/receipt-dialect.ts';
import { httpAnswers, requestWriter } from '../../workers/smpp/http/http-wire.ts';
import { OrphanStore } from '../../workers/smpp/receipts/orphans.ts';
import { incomingReceipt, type ParsedReceipt, parseReceipt } from '../../workers/smpp/receipts/receipt.ts';
import type { IncomingReceipt } from '../../workers/smpp/receipts/receipt-match.ts';
import { type CarrierAnswer, submitAnswers } from '../../workers/smpp/session/wire.ts';
import { carrierForm, encodeMessage } from '../../workers/smpp/submit/encode.ts';
import { cell, sheet, table } from './answer-text.ts';
import {
  type Answer,
  type Command,
  defineCommand,
  Failure,
  flag,
  integer,
  optional,
  required,
  withDefault,
  words,
} from './command.ts';

const VALID_MS = 3_600_000;
const TRANSACTIONAL_LANE = 1;
/** The reference of long texts. Fixed, as only two tests to the same phone at the same moment could collide. */
const REFERENCE = 0xa5;
const MAX_TEXT = 1_000;

interface Sending {
  readonly to: string;
  readonly text: string;
  readonly from: string;
  readonly template?: string | undefined;
  readonly entity?: string | undefined;
}

export const CARRIER_TEST_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'carrier',
    verb: 'test',
    about:
      'Sends one SMS over a bind (or by a request) of its own and shows every PDU, the answer and the receipt. It is not charged to an account.',
    args: { carrier: required(words('CARRIER', '1 to 32 of a-z, 0-9 and -', /^[a-z0-9-]{1,32}$/), 'its short name') },
    options: {
      to: required(words('NUMBER', 'a number of yours, digits with the calling code', /^\d{5,20}$/), 'your own phone'),
      from: withDefault(words('SENDER', '1 to 20 ASCII characters', /^[\x20-\x7e]{1,20}$/), 'HARKRA', 'the sender'),
      text: withDefault(
        {
          value: 'TEXT',
          form: `1 to ${MAX_TEXT} characters`,
          parse: (text) => (text !== '' && text.length <= MAX_TEXT ? text : undefined),
        },
        'Test @ $ _ { é',
        'the text; these characters show an alphabet at once',
      ),
      template: optional(words('ID', '10 to 20 digits', /^\d{10,20}$/), 'under DLT: id of the template'),
      entity: optional(words('ID', '10 to 20 digits', /^\d{10,20}$/), 'under DLT: id of the business (PE)'),
      waitSeconds: withDefault(integer('N', 0, 600), '30', 'how long to wait for the receipt'),
    },
    notes:
      'While the smpp worker is bound to the carrier, the test binds as a transmitter only, so that no receipt comes here that the worker waits for.\n' +
      'Its own receipt is then read where the worker keeps what fits no message. Otherwise it binds as the worker would; what is not its own is\n' +
      'refused with 0x14, so that the carrier brings it again. The receipt of a carrier of the kind http comes in at the gateway, while a worker holds the carrier. The PDUs show number and text: of this message only.',
    run: async ({ carrier: name, waitSeconds, ...sending }, { db, clock, box, config }) => {
      const store = await db();
      const found = (await listConditions(store, clock.now())).find(({ carrier }) => carrier._id === name);
      if (found === undefined) throw new Failure(`There is no carrier "${name}"; \`carrier list\` shows them.`);
      const own = await box();
      const carrier = { ...found.carrier, ...openedTrust(own, found.carrier) };
      const isHeld = found.condition === 'bound' || found.condition === 'partly_bound';
      return runTest({
        ...{ carrier, password: openedPassword(own, carrier), clock, sending },
        publicUrl: publicUrl(config),
        orphans: isHeld ? new OrphanStore(store, name) : undefined,
        waitMs: waitSeconds * 1_000,
      });
    },
  }),
];

interface Test {
  readonly carrier: CarrierDocument;
  readonly password: string;
  readonly clock: Clock;
  readonly sending: Sending;
  readonly publicUrl: string;
  /** Where the worker keeps receipts without a message, ours included. Undefined if no worker is bound. */
  readonly orphans: OrphanStore | undefined;
  readonly waitMs: number;
}

async function runTest(test: Test): Promise<Answer> {
  const { carrier, password, clock, sending, orphans, waitMs } = test;
  if (carrier.kind === 'http') return runHttpTest(test);
  const lines: string[] = [];
  const receipt = new TrialReceipt(carrier, clock);
  const trial = new Trial({
    ...{ carrier, password, clock },
    say: (line) => void lines.push(line),
    isOurs: (deliver) => receipt.take(deliver),
  });
  const frames = encoded(carrier, sending, clock);
  const steps: Step[] = [];
  try {
    steps.push(await bindStep(trial, carrier, orphans !== undefined));
    if (steps.every(({ ok }) => ok)) {
      const sentMs = clock.monotonicMs();
      const answers = await trial.submit(frames);
      for (const answer of answers) if (answer !== 'no_answer') receipt.expect(answer.messageId);
      const read = submitAnswers(carrier);
      const told = answers.map((answer) => (answer === 'no_answer' ? answer : read(answer)));
      steps.push(submitStep(told, carrier, sending, clock.monotonicMs() - sentMs));
      if (steps.every(({ ok }) => ok)) {
        const came = await receipt.within(waitMs, orphans);
        steps.push(receiptStep(came, clock.monotonicMs() - sentMs, orphans !== undefined));
      }
    }
  } finally {
    await trial.end();
  }
  return answerOf(carrier, steps, lines);
}

/** Sends one request as the worker would. Its receipt arrives at the gateway, and the worker stores it as an orphan. */
async function runHttpTest({ carrier, password, clock, sending, publicUrl, orphans, waitMs }: Test): Promise<Answer> {
  const lines: string[] = [];
  const steps = [await connectionStep(carrier)];
  const { to, text, from, template, entity: entityId } = sending;
  const { encoding } = planText(text);
  const callback = callbackUrl(publicUrl, carrier);
  const message = { ...{ _id: newId('msg'), to, text, sender: from, encoding }, ...defined({ template, entityId }) };
  const written = requestWriter({ carrier, password, callback })(message);
  if ('code' in written) throw new Failure(`${written.reason}; nothing was sent.`);
  const { target, frame } = written;
  if (target === undefined || steps.some(({ ok }) => !ok)) return answerOf(carrier, steps, lines);
  // Shown with another password, so that ours is hidden in every encoding.
  const shown = requestWriter({ carrier, password: 'NOT-SHOWN', callback })(message);
  if ('target' in shown) lines.push(`→ ${shown.target?.method} ${shown.target?.url} ${shown.frame.toString('utf8')}`);
  const client = new HttpClient({
    sockets: 1,
    idleSockets: 0,
    timeoutMs: carrier.responseTimeoutMs,
    ...tlsOf(carrier),
  });
  const receipt = new TrialReceipt(carrier, clock);
  const sentMs = clock.monotonicMs();
  const body = target.method === 'POST' ? { body: frame } : {};
  const exchange = await client.exchange({ ...target, ...body, answerBytesMax: ANSWER_BYTES_MAX });
  client.close();
  const answered = exchange.kind === 'answered';
  const heard = answered
    ? `HTTP ${exchange.status} ${exchange.body.toString('utf8').slice(0, SHOWN_MAX)}`
    : exchange.code;
  // Some carriers repeat a request that they did not understand.
  const forms = [password, encodeURIComponent(password)].filter((form) => form !== '');
  lines.push(`← ${cell(forms.reduce((line, form) => line.replaceAll(form, 'NOT-SHOWN'), heard))}`);
  const answer = answered ? httpAnswers(carrier.http)(exchange) : undefined;
  steps.push(submitStep([answer ?? 'no_answer'], carrier, sending, clock.monotonicMs() - sentMs));
  if (answer?.meaning === 'accepted' && answer.messageId !== '') {
    receipt.expect(answer.messageId);
    const came = await receipt.within(waitMs, orphans);
    steps.push(receiptStep(came, clock.monotonicMs() - sentMs, true));
  }
  return answerOf(carrier, steps, lines);
}

const ANSWER_BYTES_MAX = 65_536;
const SHOWN_MAX = 2_000;

function tlsOf({ host, tls, trust }: CarrierDocument) {
  return tls ? { tls: tlsOptions(host, trust) } : {};
}

function answerOf({ _id: carrier }: CarrierDocument, steps: readonly Step[], lines: readonly string[]): Answer {
  return {
    text: [...lines, '', ...steps.map(({ ok, words }) => `${ok ? 'ok ' : 'NO '} ${words}`)].join('\n'),
    json: { carrier, steps, pdus: lines },
    ok: steps.every(({ ok }) => ok),
  };
}

function encoded(carrier: CarrierDocument, { to, text, from, template, entity }: Sending, clock: Clock): Buffer[] {
  const message = {
    ...{ to, text, sender: from, lane: TRANSACTIONAL_LANE, validUntil: new Date(clock.now().getTime() + VALID_MS) },
    ...(template === undefined ? {} : { template }),
    ...(entity === undefined ? {} : { entityId: entity }),
  };
  const options = { form: carrierForm(carrier), now: clock.now(), reference: () => REFERENCE };
  const made = encodeMessage(message, { ...options, dlt: carrier.dlt ?? 'off' });
  if (made.kind === 'unfit') throw new Failure(`${made.reason}; nothing was sent.`);
  return made.segments.map(encodeSubmit);
}

const MEANINGS = {
  accepted: 'accepted',
  throttled: 'too fast: the worker would send it again',
  retry: 'refused for now: the worker would try again',
  bind: 'the session is not usable: the worker would bind again',
  failover: 'refused here: the worker would ask the next carrier of the route',
  rejected: 'refused for good',
} as const;

/** Indian carriers' answer to a submit_sm with missing or wrong DLT ids. */
const SUBMIT_FAILED = '0x45';

function submitStep(
  answers: readonly (CarrierAnswer | 'no_answer')[],
  carrier: CarrierDocument,
  { template, entity }: Sending,
  ms: number,
): Step {
  const last = answers.at(-1);
  if (last === undefined || last === 'no_answer') {
    return { ok: false, words: 'submit: no answer; nobody knows whether the carrier has it' };
  }
  const { meaning, code, reason } = last;
  const told = `${code}, ${reason}: ${MEANINGS[meaning]}`;
  if (meaning !== 'accepted') {
    const lacks = (carrier.dlt ?? 'off') === 'off' || template === undefined || entity === undefined;
    const why =
      code === SUBMIT_FAILED && lacks
        ? '. Carriers in India refuse so what has no DLT ids: set the tags of the carrier (--dlt), and give --template and --entity'
        : '';
    return { ok: false, words: `submit: segment ${answers.length} got ${told}${why}` };
  }
  const ids = answers.map((answer) => (answer === 'no_answer' ? '' : answer.messageId)).filter((id) => id !== '');
  if (ids.length === 0) {
    return {
      ok: false,
      words: 'submit: accepted without an id; no receipt can find its message. Ask the carrier for ids',
    };
  }
  return {
    ok: true,
    words: `submit: ${answers.length} segment(s) accepted in ${Math.round(ms)} ms, id ${ids.join(', ')}`,
  };
}

function receiptStep(receipt: IncomingReceipt | undefined, ms: number, isBeside: boolean): Step {
  if (receipt === undefined)
    return { ok: false, words: 'receipt: none came. Some carriers take longer: --wait-seconds' };
  const { state, error, reason } = receipt.part;
  const why = error === undefined ? '' : ` (${error}${reason === undefined ? '' : `, ${reason}`})`;
  const where = isBeside ? ', brought to the worker' : '';
  return { ok: state === 'delivered', words: `receipt: ${state}${why} after ${Math.round(ms)} ms${where}` };
}

const LOOK_MS = 250;

/** Waits for the test message's receipt. It comes on our bind, or on the worker's, which stores it as an orphan. */
class TrialReceipt {
  readonly #carrier: CarrierDocument;
  readonly #clock: Clock;
  readonly #dialect: ReceiptDialect;
  readonly #keys = new Set<string>();
  #found: IncomingReceipt | undefined;

  constructor(carrier: CarrierDocument, clock: Clock) {
    this.#carrier = carrier;
    this.#clock = clock;
    this.#dialect = new ReceiptDialect(carrier);
  }

  expect(messageId: string): void {
    const key = messageKey(this.#carrier._id, messageId);
    if (key !== undefined) this.#keys.add(key);
  }

  take(deliver: Deliver): boolean {
    const parsed = parseReceipt(deliver, this.#carrier, this.#dialect, this.#clock.now());
    const receipt = parsed && incomingReceipt(deliver, parsed, this.#carrier, this.#dialect);
    if (receipt === undefined || !this.#means(receipt)) return false;
    this.#found ??= receipt;
    return true;
  }

  #means({ candidates }: IncomingReceipt): boolean {
    const caseless = new Set([...this.#keys].map((key) => key.toLowerCase()));
    return (
      candidates.some(({ key }) => this.#keys.has(key)) || caselessKeys(candidates).some((key) => caseless.has(key))
    );
  }

  async within(ms: number, orphans: OrphanStore | undefined): Promise<IncomingReceipt | undefined> {
    const deadlineMs = this.#clock.monotonicMs() + ms;
    while (this.#found === undefined && this.#keys.size > 0 && this.#clock.monotonicMs() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const [stored] = orphans === undefined ? [] : await orphans.withKeys([...this.#keys]);
      this.#found ??= stored;
    }
    return this.#found;
  }
}

const carrier = required(words('CARRIER', '1 to 32 of a-z, 0-9 and -', /^[a-z0-9-]{1,32}$/), 'its short name');
const text = required(words('TEXT', 'at most 2,000 characters', /^[\s\S]{0,2000}$/), 'the text of the deliver_sm');
const hexCode = words('HEX', 'three octets in hexadecimal, like 030001', /^[0-9a-f]{6}$/i);
const id = words('ID', '1 to 65 ASCII characters', /^[\x21-\x7e]{1,65}$/);

export const RECEIPT_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'carrier',
    verb: 'receipt-profiles',
    about: 'Lists what `--receipt-profile` can be, with the pages that say so.',
    args: {},
    options: {},
    notes:
      'All profiles know the words of all vendors here. Numbers, error codes and the rules are those of the profile alone.',
    async run() {
      const rows = Object.entries(PROFILES).map(([name, { words = {}, errors = {}, otherWord, parts, about }]) => [
        name,
        String(Object.keys(words).length),
        String(Object.keys(errors).length),
        otherWord ?? 'ignore',
        parts ?? 'perPart',
        about,
      ]);
      const json = Object.entries(PROFILES).map(([profile, known]) => ({
        ...{ profile, otherWord: 'ignore', parts: 'perPart' },
        ...known,
      }));
      return { text: table(['PROFILE', 'WORDS', 'CODES', 'OTHER WORD', 'PARTS', 'ABOUT'], rows, ''), json };
    },
  }),
  defineCommand({
    noun: 'carrier',
    verb: 'read-receipt',
    about: 'Shows how a receipt of a carrier would be read. Nothing is stored.',
    args: { carrier, text },
    options: {
      receiptedMessageId: optional(id, 'its TLV receipted_message_id'),
      messageState: optional(integer('N', 0, 255), 'its TLV message_state'),
      networkErrorCode: optional(hexCode, 'its TLV network_error_code'),
      intermediate: flag('it came with esm_class 0x20, as an intermediate notification'),
    },
    notes: "For example: carrier read-receipt acme 'id:4f1c stat:DND err:051'",
    async run(
      { carrier: name, text: said, receiptedMessageId, messageState, networkErrorCode, intermediate },
      context,
    ) {
      const found = (await listCarriers(await context.db())).find(({ _id }) => _id === name);
      if (found === undefined) throw new Failure(`There is no carrier "${name}"; \`carrier list\` shows them.`);
      const deliver = {
        ...{ from: '', to: '', esmClass: intermediate ? 0x20 : 0x04, dataCoding: 0, body: Buffer.from(said, 'latin1') },
        ...(receiptedMessageId === undefined ? {} : { receiptedMessageId }),
        ...(messageState === undefined ? {} : { messageState }),
        ...(networkErrorCode === undefined ? {} : { networkErrorCode: Buffer.from(networkErrorCode, 'hex') }),
      };
      const dialect = new ReceiptDialect(found);
      const parsed = parseReceipt(deliver, found, dialect, context.clock.now());
      if (parsed === undefined)
        throw new Failure(
          'It has no message id, so it fits no message: the worker would only log it (`receipt_unreadable`). If the carrier sends the id as a TLV, add --receipted-message-id.',
        );
      const { part } = incomingReceipt(deliver, parsed, found, dialect) ?? {};
      const fields = {
        ids: parsed.ids.join(', '),
        'looked for as': candidateKeys(found, parsed.ids)
          .map(({ key }) => key.slice(name.length + 1))
          .join(', '),
        word: parsed.word === '' ? 'none' : parsed.word,
        means: meaningOf(parsed, found),
        'error code': part?.error ?? 'none',
        'error reason': part?.reason ?? 'none',
        'done at': parsed.doneAt?.toISOString() ?? 'not said',
        'kept text': parsed.excerpt,
      };
      return { text: sheet(fields), json: { ...parsed, errorReason: part?.reason } };
    },
  }),
];

const EFFECTS: Readonly<Record<ParsedReceipt['meaning'], string>> = {
  delivered: 'delivered',
  failed: 'failed',
  expired: 'expired',
  rejected: 'rejected',
  intermediate: 'intermediate: the message is still under way',
  hold: 'hold: the message fails later, unless a better receipt comes',
  ignore: 'ignore: it is kept for the timeline and changes nothing',
};

function meaningOf({ meaning, isKnown }: ParsedReceipt, { receipts }: CarrierDocument): string {
  if (isKnown) return EFFECTS[meaning];
  const { receiptProfile } = withDefaults(RECEIPTS, receipts);
  return `${EFFECTS[meaning]} (no table has this word; by the profile ${receiptProfile})`;
}
