import type { Clock } from '../../platform/runtime/clock.ts';
import type { CarrierDocument } from '../carrier.ts';
import { STATUS, statusReason, statusText } from '../command-status.ts';
import { BIND_COMMANDS, bindFields, hostOf } from './bind-request.ts';
import type { Deliver } from './deliver-sm.ts';
import { type BindCommand, COMMAND, decodeFields, isResponse, readHeader } from './pdu.ts';
import { Session, type Submit, type SubmitAnswer } from './session.ts';

export interface TrialOptions {
  readonly carrier: CarrierDocument;
  /** In clear. */
  readonly password: string;
  readonly clock: Clock;
  say(line: string): void;
  isOurs(deliver: Deliver): boolean;
}

interface Waiting extends Submit {
  readonly done: (answer: SubmitAnswer | 'no_answer') => void;
}

const BIND_TIMEOUT_MS = 10_000;
const UNBIND_TIMEOUT_MS = 2_000;

/** Sessions that try a bind, or send one test message, independent of the worker's sessions. */
export class Trial {
  readonly #options: TrialOptions;
  readonly #startMs: number;
  #sessions: Session<Waiting>[] = [];

  constructor(options: TrialOptions) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
  }

  say(line: string): void {
    const { clock, say } = this.#options;
    say(`${((clock.monotonicMs() - this.#startMs) / 1_000).toFixed(3).padStart(8)} s  ${line}`);
  }

  /** One session after the other. `no_answer`: no answer came, or no connection could be made. */
  async bind(commands: readonly BindCommand[]): Promise<number | 'no_answer'> {
    for (const command of commands) {
      const session = await this.#open(command);
      if (session === undefined) return 'no_answer';
      const status = await session.bind(BIND_TIMEOUT_MS);
      if (status !== STATUS.ok) return status;
    }
    return STATUS.ok;
  }

  /** One segment after the other, over the session that was bound first. Stops at the first refusal. */
  async submit(frames: readonly Buffer[]): Promise<(SubmitAnswer | 'no_answer')[]> {
    const answers: (SubmitAnswer | 'no_answer')[] = [];
    for (const frame of frames) {
      const answer = await this.#submit(frame);
      answers.push(answer);
      if (answer === 'no_answer' || answer.status !== STATUS.ok) break;
    }
    return answers;
  }

  async end(): Promise<void> {
    const open = this.#sessions.filter((session) => session.open);
    await Promise.all(open.map((session) => session.unbind(UNBIND_TIMEOUT_MS, UNBIND_TIMEOUT_MS)));
    for (const session of this.#sessions) session.destroy('ended');
  }

  #submit(frame: Buffer): Promise<SubmitAnswer | 'no_answer'> {
    const [session] = this.#sessions;
    if (session?.open !== true) return Promise.resolve('no_answer');
    return new Promise((done) => session.submit({ frame, done }));
  }

  #open(command: BindCommand): Promise<Session<Waiting> | undefined> {
    const { carrier, password, clock } = this.#options;
    const where = hostOf(carrier, command, 0);
    this.say(`connecting to ${where.host}:${where.port}${carrier.tls ? ' with TLS' : ''}`);
    return new Promise((resolve) => {
      const session: Session<Waiting> = new Session<Waiting>({
        ...where,
        command,
        fields: bindFields(carrier, password),
        tls: carrier.tls ? (carrier.trust ?? {}) : undefined,
        clock,
        responseTimeoutMs: carrier.responseTimeoutMs,
        enquireLinkMs: carrier.enquireLinkMs,
        mayWrite: () => true,
        onFrame: (direction, frame) => this.say(`${direction === 'out' ? '→' : '←'} ${pduWords(frame)}`),
        onOpen: () => resolve(session),
        onAnswer: ({ done }, answer) => done(answer),
        onTimeout: ({ done }) => done('no_answer'),
        delivers: { take: async (deliver, answer) => this.#take(deliver, answer) },
        onUnbind: (confirm) => {
          confirm();
          session.end();
        },
        onClose: (reason, lost) => {
          for (const { done } of [...lost.unanswered, ...lost.unwritten]) done('no_answer');
          if (reason !== 'ended') this.say(`the connection ended: ${reason}`);
          resolve(undefined);
        },
      });
      this.#sessions.push(session);
    });
  }

  /** Refuses every deliver_sm but the test message's receipt: the carrier sends it again, to the worker. */
  #take(deliver: Deliver, answer: (status: number) => void): void {
    answer(this.#options.isOurs(deliver) ? STATUS.ok : STATUS.queueFull);
  }
}

export interface Step {
  readonly ok: boolean;
  readonly words: string;
}

/** Refusals that may only mean that the worker uses all binds that the carrier allows. */
const NO_FURTHER: ReadonlySet<number> = new Set([STATUS.alreadyBound, STATUS.bindFailed, STATUS.incorrectBindStatus]);

/** `isBeside`: the worker is bound, so only a transmitter: a receiver would take the worker's receipts. */
export async function bindStep(trial: Trial, { bindKind }: CarrierDocument, isBeside: boolean): Promise<Step> {
  const status = await trial.bind(isBeside ? ['bind_transmitter'] : BIND_COMMANDS[bindKind]);
  if (status === 'no_answer') {
    const words =
      'bind: no answer, or no connection. Check host, port and TLS, and whether the carrier lets in the address of this machine';
    return { ok: false, words };
  }
  if (status === STATUS.ok) return { ok: true, words: 'bind: accepted' };
  const why =
    isBeside && NO_FURTHER.has(status)
      ? '. The carrier allows no further bind beside the worker’s: `carrier pause` it for the test, or take one bind less.'
      : '';
  return { ok: false, words: `bind: refused with ${statusText(status)}, ${statusReason(status)}${why}` };
}

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(COMMAND).map(([name, id]) => [id, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
);
/** The password of a bind is never shown. */
const SECRET = 'password';

/** One line: the PDU's name, its status in words, and its fields as sent. Octets are in hexadecimal. */
function pduWords(frame: Buffer): string {
  const { command, status, sequence } = readHeader(frame);
  const answer = isResponse(command) && command !== COMMAND.genericNack;
  const name = NAMES.get(answer ? command - COMMAND.genericNack : command) ?? `command 0x${command.toString(16)}`;
  const said = isResponse(command) ? ` ${statusText(status)} ${statusReason(status)}` : '';
  return `${name}${answer ? '_resp' : ''} #${sequence}${said}${fieldWords(frame)}`;
}

function fieldWords(frame: Buffer): string {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = decodeFields(frame);
  } catch {
    return ` (its body cannot be read: ${frame.length} octets)`;
  }
  const words = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === null || (typeof value === 'object' && !Buffer.isBuffer(value))
      ? []
      : [`${label(name)}=${shown(name, value)}`],
  );
  return words.length === 0 ? '' : ` ${words.join(' ')}`;
}

/** The codec names an unknown TLV by its tag in decimal; shown in hexadecimal. */
function label(name: string): string {
  return /^\d+$/.test(name) ? `0x${Number(name).toString(16).padStart(4, '0')}` : name;
}

function shown(name: string, value: unknown): string {
  if (name === SECRET) return '(not shown)';
  if (Buffer.isBuffer(value)) return value.length === 0 ? '""' : `x'${value.toString('hex')}'`;
  // Control characters could control the terminal.
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
