import type { Part } from '../../shared/messages/message.ts';

/** One segment, as the carrier answered it; `before` is what stands before the carrier's id in the key, its name unless given. */
export function partRecord({ key, state, error }: Part, index: number, before?: string): object {
  return {
    number: index + 1,
    state,
    carrier_message_id:
      key === undefined ? null : before === undefined ? carrierMessageId(key) : key.slice(before.length),
    error: error ?? null,
  };
}

/** It stands behind the carrier's name (message.ts). */
export function carrierMessageId(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}
