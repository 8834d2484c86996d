import { statusReason, statusText } from '../command-status.ts';
import { COMMAND, decodeFields, isResponse, readHeader } from './pdu.ts';

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(COMMAND).map(([name, id]) => [id, name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
);
/** The password of a bind is never shown. */
const SECRET = 'password';

/** Describes a PDU in one line: its name, its status in words, and its fields as they were sent. Octets are in hexadecimal. */
export function pduWords(frame: Buffer): string {
  const { command, status, sequence } = readHeader(frame);
  const answer = isResponse(command) && command !== COMMAND.genericNack;
  const name = NAMES.get(answer ? command - COMMAND.genericNack : command) ?? `command 0x${command.toString(16)}`;
  const said = isResponse(command) ? ` ${statusText(status)} ${statusReason(status)}` : '';
  return `${name}${answer ? '_resp' : ''} #${sequence}${said}${fieldWords(frame)}`;
}

function fieldWords(frame: Buffer): string {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = decodeFields(frame);
  } catch {
    return ` (its body cannot be read: ${frame.length} octets)`;
  }
  const words = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || value === null || (typeof value === 'object' && !Buffer.isBuffer(value))
      ? []
      : [`${label(name)}=${shown(name, value)}`],
  );
  return words.length === 0 ? '' : ` ${words.join(' ')}`;
}

/** The name of a field. The codec names a TLV that it does not know by its tag in decimal; here the tag is shown in hexadecimal. */
function label(name: string): string {
  return /^\d+$/.test(name) ? `0x${Number(name).toString(16).padStart(4, '0')}` : name;
}

function shown(name: string, value: unknown): string {
  if (name === SECRET) return '(not shown)';
  if (Buffer.isBuffer(value)) return value.length === 0 ? '""' : `x'${value.toString('hex')}'`;
  // Control characters could control the terminal.
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
