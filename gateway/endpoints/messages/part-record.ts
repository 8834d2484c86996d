import type { Part } from '../../../shared/messages/document/message.ts';
import type { Shown } from '../../api/endpoint.ts';
import type { Part as PartShape } from './shapes.ts';

/** The segments, each with the carrier's answer. `idOf` extracts the carrier's message id from a part's key. */
export function partRecords(parts: readonly Part[], idOf: (key: string) => string): Shown<typeof PartShape>[] {
  return parts.map(({ key, state, error }, index) => ({
    number: index + 1,
    state,
    carrier_message_id: key === undefined ? null : idOf(key),
    error: error ?? null,
  }));
}
