import { ESC, EXTENDED, gsmCode } from '../../../shared/messages/gsm7.ts';
import { type Shift, tablesOf } from './national-tables.ts';

/** Septets that are written with the same tables: a text, or one part of it. */
export interface SeptetRun {
  /** One septet in each octet. */
  readonly octets: Buffer;
  readonly shift?: Shift | undefined;
}

/** Stands for septets that the table does not have. */
const UNREADABLE = '\ufffd';

/**
 * Decodes the parts of a text; each has the tables of its own header (3GPP TS 23.038 §6.2.1.2.3). An extension that the table does
 * not have is read as the character of the alphabet with its code (§6.2.1.1). The character after an escape may be in the next part.
 * Undefined when a table is unknown that is needed for it, or an octet is no septet: then it is no text of this alphabet.
 */
export function readSeptets(parts: readonly SeptetRun[]): string | undefined {
  let text = '';
  let isEscaped = false;
  for (const { octets, shift = {} } of parts) {
    const tables = tablesOf(shift);
    if (tables === undefined) return undefined;
    for (const code of octets) {
      if (code > 0x7f) return undefined;
      if (code === ESC && !isEscaped) {
        isEscaped = true;
        continue;
      }
      if (isEscaped && tables.extension === undefined) return undefined;
      const extended = isEscaped ? tables.extension?.get(code) : undefined;
      text += extended ?? tables.alphabet.get(code) ?? (code === ESC ? ' ' : UNREADABLE);
      isEscaped = false;
    }
  }
  return isEscaped ? `${text} ` : text;
}

/** Writes a code unit of the alphabet at `offset`. Returns the offset after it. The caller must check `septetsOf` first. */
export function writeSeptets(codeUnit: number, into: Buffer, offset: number): number {
  const code = gsmCode(codeUnit);
  if (code < EXTENDED) {
    into[offset] = code;
    return offset + 1;
  }
  into[offset] = ESC;
  into[offset + 1] = code & 0x7f;
  return offset + 2;
}
