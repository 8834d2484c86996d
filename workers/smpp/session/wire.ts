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

/**
 * The port between what takes and settles messages and what speaks with the carrier: `smppWire` speaks SMPP. A bind
 * opens sessions of one wire again and again, and knows nothing of its protocol.
 */
export interface Wire<Context> {
  /** How many sessions make up a bind. Submits go over the first one. */
  readonly sessions: number;
  /** After this many tries each address of the carrier was tried. */
  readonly turns: number;
  /** Connects at once. `turn` counts the failed tries since the last bind that worked. */
  open(index: number, turn: number, events: WireEvents<Context>): WireSession<Context>;
}

export interface WireEvents<Context> {
  /** The connection is made, and `bind` may be called. */
  onOpen(): void;
  onAnswer(context: Context, answer: CarrierAnswer): void;
  /** No answer came in time, or none that can be read. One may still come, and `onAnswer` is then called too. */
  onTimeout(context: Context): void;
  /** The peer asks to unbind. `confirm` agrees. */
  onUnbind(confirm: () => void): void;
  /** Called once. Every submit without an answer is in `lost`. */
  onClose(reason: string, lost: LostSubmits<Context>): void;
}

/** What a submitter needs of a session. */
export interface SubmitSession<Context> {
  readonly open: boolean;
  /** Whether the peer reads so slowly that further submits would only fill our memory. */
  readonly congested: boolean;
  submit(context: Context): void;
}

export interface WireSession<Context> extends SubmitSession<Context> {
  /** When the certificate of the carrier ends. Undefined without TLS. */
  readonly certificateUntil: Date | undefined;
  /** Resolves to the command_status of the answer; 0 where a protocol has no bind. */
  bind(timeoutMs: number): Promise<number | 'no_answer'>;
  /** Ends in agreement with the peer: answers of ours first, at most `answersMs`. */
  unbind(timeoutMs: number, answersMs: number): Promise<unknown>;
  /** Reads nothing for this time, so that the peer has to slow down. */
  pauseReading(ms: number): void;
  end(): void;
  destroy(reason: string): void;
}

interface SmppWireOptions {
  readonly carrier: CarrierDocument;
  /** The password, decrypted. */
  readonly password: string;
  readonly clock: Clock;
  /** Takes what the carrier delivers to the sessions. */
  readonly delivers: DeliverTaker;
  /** Whether the carrier's lease is held. Asked right before each write. */
  mayWrite(): boolean;
}

/** Sessions of SMPP: a transceiver, or a transmitter and a receiver. */
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

/** What a carrier answered to one segment, read by its settings: the same for every kind of carrier. */
export interface CarrierAnswer {
  readonly meaning: CommandStatusClass;
  /** As `error_code` shows it: `0x0B`. */
  readonly code: string;
  /** In words, for people. */
  readonly reason: string;
  /** Empty if it was refused, or if the carrier gave no id. */
  readonly messageId: string;
  /** The pause that the carrier's settings ask for after this answer. */
  readonly pauseMs?: number;
  /** It has too much to do, which says nothing against the carrier. */
  readonly isBusy?: true;
}

/** What the words of the settings mean. */
export const CLASSES: Readonly<Record<StatusMeaning['means'], CommandStatusClass>> = {
  retry: 'retry',
  throttle: 'throttled',
  fail: 'rejected',
  failover: 'failover',
  bind: 'bind',
};

/** At Aldeamo 0x14 can also mean an empty balance. */
const BUSY: ReadonlySet<number> = new Set([STATUS.queueFull, STATUS.throttled]);

/** Reads the answers of an SMPP carrier. Its own meanings of statuses come before the standard's. */
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
