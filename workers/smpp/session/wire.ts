import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import {
  type CommandStatusClass,
  STATUS,
  statusClass,
  statusReason,
  statusText,
} from '../../../shared/carriers/command-status.ts';
import type { StatusMeaning } from '../../../shared/carriers/settings/answers.ts';
import { BIND_COMMANDS, bindFields, hostOf, turnsOf } from '../../../shared/carriers/smpp/bind-request.ts';
import { type DeliverTaker, Session, type Submit, type SubmitAnswer } from '../../../shared/carriers/smpp/session.ts';
import type { LostSubmits } from '../../../shared/carriers/smpp/unanswered-submits.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';

/** The port to the carrier's protocol: a bind opens sessions of one wire, and knows nothing of the protocol. */
export interface Wire<Context> {
  /** How many sessions make up a bind. Submits go over the first one. */
  readonly sessions: number;
  /** After this many tries, every address of the carrier has been tried. */
  readonly turns: number;
  /** Connects at once. `turn` counts the failed tries since the last bind that worked. */
  open(index: number, turn: number, events: WireEvents<Context>): WireSession<Context>;
}

export interface WireEvents<Context> {
  onOpen(): void;
  onAnswer(context: Context, answer: CarrierAnswer): void;
  /** No answer came in time, or none that can be read. One may still come, and `onAnswer` is then called too. */
  onTimeout(context: Context): void;
  /** The peer asks to unbind. `confirm` agrees. */
  onUnbind(confirm: () => void): void;
  /** Called once. Every submit without an answer is in `lost`. */
  onClose(reason: string, lost: LostSubmits<Context>): void;
}

export interface SubmitSession<Context> {
  readonly open: boolean;
  /** Whether the peer reads so slowly that further submits would only fill our memory. */
  readonly congested: boolean;
  submit(context: Context): void;
}

export interface WireSession<Context> extends SubmitSession<Context> {
  readonly certificateUntil: Date | undefined;
  /** Resolves to the command_status of the answer; 0 where a protocol has no bind. */
  bind(timeoutMs: number): Promise<number | 'no_answer'>;
  /** Ends in agreement with the peer: answers of ours first, at most `answersMs`. */
  unbind(timeoutMs: number, answersMs: number): Promise<unknown>;
  pauseReading(ms: number): void;
  end(): void;
  destroy(reason: string): void;
}

interface SmppWireOptions {
  readonly carrier: CarrierDocument;
  readonly password: string;
  readonly clock: Clock;
  readonly delivers: DeliverTaker;
  /** Whether the carrier's lease is held. Asked right before each write. */
  mayWrite(): boolean;
}

export function smppWire<Context extends Submit>(options: SmppWireOptions): Wire<Context> {
  const { carrier, password, clock, delivers, mayWrite } = options;
  const commands = BIND_COMMANDS[carrier.bindKind];
  const read = submitAnswers(carrier);
  const fields = bindFields(carrier, password);
  return {
    sessions: commands.length,
    turns: turnsOf(carrier),
    open: (index, turn, events) => {
      const command = commands[index] ?? 'bind_transceiver';
      return new Session<Context>({
        ...hostOf(carrier, command, turn),
        ...{ command, fields, clock, delivers, mayWrite },
        tls: carrier.tls ? (carrier.trust ?? {}) : undefined,
        responseTimeoutMs: carrier.responseTimeoutMs,
        enquireLinkMs: carrier.enquireLinkMs,
        ...events,
        onAnswer: (context, answer) => events.onAnswer(context, read(answer)),
      });
    },
  };
}

/** A carrier's answer to one segment, read by its settings: the same for every kind of carrier. */
export interface CarrierAnswer {
  readonly meaning: CommandStatusClass;
  /** As `error_code` shows it: `0x0B`. */
  readonly code: string;
  readonly reason: string;
  /** Empty if it was refused, or if the carrier gave no id. */
  readonly messageId: string;
  /** The pause that the carrier's settings ask for after this answer. */
  readonly pauseMs?: number;
  /** The carrier is busy, which is not counted as a fault. */
  readonly isBusy?: true;
}

export const CLASSES: Readonly<Record<StatusMeaning['means'], CommandStatusClass>> = {
  retry: 'retry',
  throttle: 'throttled',
  fail: 'rejected',
  failover: 'failover',
  bind: 'bind',
};

/** At Aldeamo 0x14 can also mean an empty balance. */
const BUSY: ReadonlySet<number> = new Set([STATUS.queueFull, STATUS.throttled]);

/** The carrier's own meanings of statuses come before the standard's. */
export function submitAnswers({ answers }: Pick<CarrierDocument, 'answers'>): (answer: SubmitAnswer) => CarrierAnswer {
  const own = new Map(answers?.statusClass?.map((one) => [one.status, one]));
  return ({ status, messageId }) => {
    const { means, pauseSeconds } = own.get(status) ?? {};
    return {
      meaning: means === undefined ? statusClass(status) : CLASSES[means],
      code: statusText(status),
      reason: statusReason(status),
      messageId,
      ...(pauseSeconds === undefined ? {} : { pauseMs: pauseSeconds * 1_000 }),
      ...(BUSY.has(status) ? { isBusy: true } : {}),
    };
  };
}
