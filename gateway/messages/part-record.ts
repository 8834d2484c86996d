import type { Part } from '../../shared/messages/message.ts';

/** The segments, as the carrier answered each; `idOf` takes the carrier's id out of a part's key. */
export function partRecords(parts: readonly Part[], idOf: (key: string) => string): object[] {
  return parts.map(({ key, state, error }, index) => ({
    number: index + 1,
    state,
    carrier_message_id: key === undefined ? null : idOf(key),
    error: error ?? null,
  }));
}
