import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { BIND_COMMANDS, bindFields, hostOf, turnsOf } from '../../../shared/carriers/smpp/bind-request.ts';
import { type DeliverTaker, Session, type Submit } from '../../../shared/carriers/smpp/session.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { submitAnswers } from './carrier-answer.ts';
import type { Wire } from './wire.ts';

export interface SmppWireOptions {
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
      const session = new Session<Context>({
        ...hostOf(carrier, command, turn),
        tls: carrier.tls ? (carrier.trust ?? {}) : undefined,
        clock,
        responseTimeoutMs: carrier.responseTimeoutMs,
        enquireLinkMs: carrier.enquireLinkMs,
        delivers,
        mayWrite,
        ...events,
        onAnswer: (context, answer) => events.onAnswer(context, read(answer)),
      });
      return {
        get open() {
          return session.open;
        },
        get congested() {
          return session.congested;
        },
        get certificateUntil() {
          return session.certificateUntil;
        },
        bind: (timeoutMs) => session.bind(command, fields, timeoutMs),
        submit: (context) => session.submit(context),
        unbind: (timeoutMs, answersMs) => session.unbind(timeoutMs, answersMs),
        pauseReading: (ms) => session.pauseReading(ms),
        end: () => session.end(),
        destroy: (reason) => session.destroy(reason),
      };
    },
  };
}
