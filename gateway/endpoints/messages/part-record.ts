import type { Part } from '../../../shared/messages/document/message.ts';

/** The segments, each with the carrier's answer. `idOf` extracts the carrier's message id from a part's key. */
export function partRecords(parts: readonly Part[], idOf: (key: string) => string): object[] {
  return parts.map(({ key, state, error }, index) => ({
    number: index + 1,
    state,
    carrier_message_id: key === undefined ? null : idOf(key),
    error: error ?? null,
  }));
}
