import type { Part } from '../../shared/messages/message.ts';

/** One segment, as the carrier answered it. */
export function partRecord({ key, state, error }: Part, index: number): object {
  return {
    number: index + 1,
    state,
    carrier_message_id: key === undefined ? null : carrierMessageId(key),
    error: error ?? null,
  };
}

/** It stands behind the carrier's name (message.ts). */
export function carrierMessageId(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}
