import type { Delays } from '../pace/pace.ts';
import { COMMAND, TAG, type Tlvs, writePdu } from '../smpp/pdu.ts';
import { encodeGsm7, encodeUcs2, fitsGsm7 } from '../smpp/text.ts';

/** One deliver_sm, until it is acknowledged or given up. */
export interface Delivery {
  readonly systemId: string;
  readonly content: DeliverSm;
  tries: number;
}

export interface ReceivingSession {
  readonly systemId: string;
  readonly takesTlvs: boolean;
  /** Unanswered deliver_sm on this session by sequence number, oldest first. */
  readonly outstanding: Map<number, { readonly delivery: Delivery; readonly sentAt: number }>;
  nextSequence(): number;
  send(frame: Buffer): void;
}

interface Mailbox {
  readonly sessions: ReceivingSession[];
  waiting: Delivery[];
  /** Index in `waiting` of the first delivery that was not sent yet. */
  head: number;
  /** Index of the session used last. */
  turn: number;
}

interface MailboxLimits {
  readonly deliverWindow: number;
  readonly deliverTimeoutMs: number;
  readonly retryDelayMs: number;
  readonly deliverTries: number;
}

export interface DeliveryCounts {
  sent: number;
  acknowledged: number;
  retried: number;
  givenUp: number;
}

/** Sent entries at the start of `waiting` before it is shortened. */
const COMPACT_AT = 1_000;

/**
 * Queues of deliver_sm by account (system_id), and the sessions that can receive them, used in turn. A deliver_sm waits
 * while its account has no session with room in its window. It is resent if it was refused or not answered in time, or
 * if its session ended.
 */
export class Mailboxes {
  readonly counts: DeliveryCounts = { sent: 0, acknowledged: 0, retried: 0, givenUp: 0 };
  readonly #limits: MailboxLimits;
  readonly #delays: Delays;
  readonly #byAccount = new Map<string, Mailbox>();
  #pending = 0;
  #paused = false;

  constructor(limits: MailboxLimits, delays: Delays) {
    this.#limits = limits;
    this.#delays = delays;
  }

  /** deliver_sm that wait, are unanswered or will be retried. */
  get pending(): number {
    return this.#pending;
  }

  waiting(): Record<string, number> {
    return Object.fromEntries([...this.#byAccount].map(([account, box]) => [account, box.waiting.length - box.head]));
  }

  post(systemId: string, content: DeliverSm): void {
    this.#pending += 1;
    this.#enqueue({ systemId, content, tries: 0 });
  }

  join(session: ReceivingSession): void {
    const mailbox = this.#mailbox(session.systemId);
    mailbox.sessions.push(session);
    this.#pump(mailbox);
  }

  /** Returns an ended session's unanswered deliver_sm to the front of the queue. */
  leave(session: ReceivingSession): void {
    const mailbox = this.#byAccount.get(session.systemId);
    const at = mailbox?.sessions.indexOf(session) ?? -1;
    if (mailbox === undefined || at < 0) return;
    mailbox.sessions.splice(at, 1);
    const unanswered = [...session.outstanding.values()].map(({ delivery }) => delivery);
    session.outstanding.clear();
    this.counts.retried += unanswered.length;
    mailbox.waiting = [...unanswered, ...mailbox.waiting.slice(mailbox.head)];
    mailbox.head = 0;
    this.#pump(mailbox);
    if (mailbox.sessions.length === 0 && mailbox.waiting.length === 0) this.#byAccount.delete(session.systemId);
  }

  /** Handles a deliver_sm_resp or generic_nack. Returns whether it answers a deliver_sm of the session. */
  answered(session: ReceivingSession, sequence: number, status: number): boolean {
    const sent = session.outstanding.get(sequence);
    if (sent === undefined) return false;
    session.outstanding.delete(sequence);
    if (status === 0) {
      this.counts.acknowledged += 1;
      this.#pending -= 1;
    } else {
      this.#again(sent.delivery);
    }
    this.#pump(this.#mailbox(session.systemId));
    return true;
  }

  /** Resends what was not answered in time. Must be called often. */
  expire(): void {
    const before = performance.now() - this.#limits.deliverTimeoutMs;
    for (const mailbox of this.#byAccount.values()) {
      for (const session of mailbox.sessions) {
        for (const [sequence, { delivery, sentAt }] of session.outstanding) {
          if (sentAt > before) break;
          session.outstanding.delete(sequence);
          this.#again(delivery);
        }
      }
      this.#pump(mailbox);
    }
  }

  /** While true, nothing is sent. */
  set paused(paused: boolean) {
    this.#paused = paused;
    for (const mailbox of this.#byAccount.values()) this.#pump(mailbox);
  }

  #again(delivery: Delivery): void {
    if (delivery.tries >= this.#limits.deliverTries) {
      this.counts.givenUp += 1;
      this.#pending -= 1;
      return;
    }
    this.counts.retried += 1;
    this.#delays.after(this.#limits.retryDelayMs, () => this.#enqueue(delivery));
  }

  #enqueue(delivery: Delivery): void {
    const mailbox = this.#mailbox(delivery.systemId);
    mailbox.waiting.push(delivery);
    this.#pump(mailbox);
  }

  #pump(mailbox: Mailbox): void {
    if (this.#paused) return;
    while (mailbox.head < mailbox.waiting.length) {
      const session = this.#next(mailbox);
      const delivery = mailbox.waiting[mailbox.head];
      if (session === undefined || delivery === undefined) break;
      mailbox.head += 1;
      delivery.tries += 1;
      this.counts.sent += 1;
      const sequence = session.nextSequence();
      session.outstanding.set(sequence, { delivery, sentAt: performance.now() });
      session.send(writeDeliverSm(delivery.content, sequence, session.takesTlvs));
    }
    if (mailbox.head === mailbox.waiting.length || mailbox.head > COMPACT_AT) {
      mailbox.waiting = mailbox.waiting.slice(mailbox.head);
      mailbox.head = 0;
    }
  }

  #next(mailbox: Mailbox): ReceivingSession | undefined {
    for (let tried = 0; tried < mailbox.sessions.length; tried++) {
      mailbox.turn = (mailbox.turn + 1) % mailbox.sessions.length;
      const session = mailbox.sessions[mailbox.turn];
      if (session !== undefined && session.outstanding.size < this.#limits.deliverWindow) return session;
    }
    return undefined;
  }

  #mailbox(systemId: string): Mailbox {
    let mailbox = this.#byAccount.get(systemId);
    if (mailbox === undefined) {
      mailbox = { sessions: [], waiting: [], head: 0, turn: 0 };
      this.#byAccount.set(systemId, mailbox);
    }
    return mailbox;
  }
}

/** The content of a deliver_sm (SMPP 3.4 §4.6.1): a receipt or a message from a phone. */
export interface DeliverSm {
  readonly from: string;
  readonly fromTon: number;
  readonly fromNpi: number;
  readonly to: string;
  readonly toTon: number;
  readonly toNpi: number;
  readonly esmClass: number;
  readonly dataCoding: number;
  /** Up to 254 octets are sent as short_message, more as message_payload. */
  readonly userData: Buffer;
  readonly tlvs: Tlvs;
}

/** The largest sm_length (SMPP 3.4 §4.6.1). */
const SHORT_MESSAGE_OCTETS = 254;

/** `withTlvs` must be false for a peer whose interface_version is below 3.4 (§1.5). */
function writeDeliverSm(content: DeliverSm, sequence: number, withTlvs: boolean): Buffer {
  const isShort = content.userData.length <= SHORT_MESSAGE_OCTETS;
  const shortMessage = isShort ? content.userData : content.userData.subarray(0, 0);
  return writePdu(COMMAND.deliverSm, 0, sequence, (fields) => {
    fields.cString('').uint8(content.fromTon).uint8(content.fromNpi).cString(content.from);
    fields.uint8(content.toTon).uint8(content.toNpi).cString(content.to);
    fields.uint8(content.esmClass).uint8(0).uint8(0).cString('').cString('').uint8(0).uint8(0);
    fields.uint8(content.dataCoding).uint8(0).uint8(shortMessage.length).octets(shortMessage);
    if (!isShort) fields.tlv(TAG.messagePayload, content.userData);
    if (withTlvs) for (const [tag, value] of content.tlvs) fields.tlv(tag, value);
  });
}

/** A message from a phone. `text` is encoded unless `userData` is given. */
export interface MobileOriginated extends Partial<DeliverSm> {
  readonly from: string;
  readonly to: string;
  readonly text?: string;
  /** The account that gets the message. If absent, exactly one account must be bound. */
  readonly systemId?: string;
}

/** International ISDN numbers. With a header in `userData`, the caller must set the UDH indicator in `esmClass`. */
const DEFAULTS = { fromTon: 1, fromNpi: 1, toTon: 1, toNpi: 1, esmClass: 0, tlvs: new Map<number, Buffer>() };

export function phoneMessage(message: MobileOriginated): DeliverSm {
  const text = message.text ?? '';
  const isGsm = fitsGsm7(text);
  return {
    ...DEFAULTS,
    dataCoding: isGsm ? 0 : 8,
    userData: isGsm ? encodeGsm7(text) : encodeUcs2(text),
    ...message,
  };
}
