import type { ChannelName } from '../messages/document/message.ts';
import { isoTimestamp } from '../platform/runtime/clock.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

/** A change of a template that is announced: `stopped` is an approved one that cannot be sent any more. */
export type TemplateOutcome = 'approved' | 'rejected' | 'stopped';

/**
 * A change that is decided and not announced yet, kept in the template's document: the update that decides adds it, and maintenance
 * announces and removes it (workers/maintenance/announce.ts).
 */
export interface UnannouncedTemplateEvent {
  readonly event: TemplateOutcome;
  /** The template's status after the change: of `stopped` it says why. */
  readonly status: string;
  readonly reason?: string;
  readonly at: Date;
}

/** A template reached a state. */
export interface TemplateChange extends UnannouncedTemplateEvent {
  readonly account: AccountId;
  readonly channel: ChannelName;
  /** `_id` of the template's document. */
  readonly template: string;
  /** Members that name it: of an SMS template its id and name, of a chat-app template its name, language and category. */
  readonly named: Readonly<Record<string, string>>;
}

/** `reason` is null when nobody gave one. */
export function templateBody(event: string, { named, status, reason, at, channel }: TemplateChange): object {
  return { event, ...named, status, reason: reason ?? null, timestamp: isoTimestamp(at), channel };
}
