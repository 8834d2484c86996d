import { isUtf8 } from 'node:buffer';
import { nextTurn, turnOver } from '../../../shared/runtime/turns.ts';
import { isObject, type JsonObject } from '../../http/context.ts';

/**
 * The most values a post may have, estimated by its commas and opening brackets. A post of 3 MB with 24,000 messages
 * has 170,000 values and is parsed in 20 ms; 3 MB of brackets took 460 ms. Only the account's own provider can sign
 * either.
 */
const VALUES_MAX = 500_000;

/** A post as JSON. Undefined when it is not a JSON object in UTF-8, or has too many values. */
export async function parseCallbackBody(bytes: Buffer): Promise<JsonObject | undefined> {
  if (!isUtf8(bytes) || (await hasTooManyValues(bytes))) return undefined;
  if (turnOver()) await nextTurn();
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const PIECE_BYTES = 65_536;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** Counts in pieces, because 3 MB take some 10 ms. */
async function hasTooManyValues(bytes: Buffer): Promise<boolean> {
  let values = 1;
  let inString = false;
  for (let i = 0, pause = 0; i < bytes.length && values <= VALUES_MAX; i++) {
    if (i >= pause) {
      if (turnOver()) await nextTurn();
      pause = i + PIECE_BYTES;
    }
    const byte = bytes[i];
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === COMMA || byte === OPEN_LIST || byte === OPEN_OBJECT) values++;
  }
  return values > VALUES_MAX;
}
