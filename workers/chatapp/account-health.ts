import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type News, SendHealth } from './send-health.ts';

/** `session`: what goes to customers in an open session. */
export const SEND_KINDS = ['template', 'session'] as const;
export type SendKind = (typeof SEND_KINDS)[number];

/**
 * How an account stands with templates, and how with messages in a session. A provider may fail only templates, because of a
 * payment or spam. So the two kinds are judged separately, and a pause of templates holds up no answer to a customer.
 */
export class AccountHealth {
  readonly #of: Readonly<Record<SendKind, SendHealth>>;

  /** `random` returns a number from 0 to 1. */
  constructor(clock: Clock, random: () => number) {
    this.#of = { template: new SendHealth(clock, random), session: new SendHealth(clock, random) };
  }

  get good(): boolean {
    return SEND_KINDS.every((kind) => this.#of[kind].state === 'good');
  }

  /** How many sends of this kind may begin now. */
  room(kind: SendKind): number {
    return this.#of[kind].room;
  }

  /** Time until a kind that has no room now may have some by itself. Undefined when none waits. */
  get waitMs(): number | undefined {
    const waits = SEND_KINDS.map((kind) => this.#of[kind].waitMs).filter((ms) => ms > 0);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  isHeld(message: Pick<ChatMessageDocument, 'content'>): boolean {
    return this.#healthOf(message).state !== 'good';
  }

  /** A send begins. */
  begin(message: Pick<ChatMessageDocument, '_id' | 'content'>): void {
    this.#healthOf(message).begin(message._id);
  }

  isNewest(message: Pick<ChatMessageDocument, 'claim' | 'content'>): boolean {
    return this.#healthOf(message).isNewest(message);
  }

  /** Notes what is known of a message. Returns whether a pause of its kind begins with it. */
  noteNews(message: Pick<ChatMessageDocument, '_id' | 'claim' | 'content'>, news: News): boolean {
    return this.#healthOf(message).noteNews(message, news);
  }

  #healthOf({ content }: Pick<ChatMessageDocument, 'content'>): SendHealth {
    return this.#of[content.kind === 'template' ? 'template' : 'session'];
  }
}
