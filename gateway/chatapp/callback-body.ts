import { isUtf8 } from 'node:buffer';
import { TooLargeError } from '../../shared/runtime/large-json.ts';
import { isObject, type JsonObject } from '../http/context.ts';
import { parseShapedJson, type Shape, type Shaped, SMALL } from '../http/shaped-json.ts';

/** A larger body is parsed in slices: whoever knows the signature may still send 3 MB of brackets. */
export const AT_ONCE_BYTES_MAX = 65_536;

/** Messages, statuses and contacts are small; of one that is not, this is what it is known by. */
const ITEM = item([
  ...['id', 'from', 'timestamp', 'type', 'text'],
  ...['status', 'errors', 'biz_opaque_callback_data', 'conversation', 'pricing'],
  'wa_id',
]);
/** The places of a post that may be large (facts: chat-app, "Webhook POST"). */
const POST = members({
  entry: entries(
    members({
      changes: entries(
        members({
          field: SMALL,
          value: members({
            metadata: SMALL,
            messages: entries(ITEM),
            statuses: entries(ITEM),
            contacts: entries(ITEM),
          }),
        }),
      ),
    }),
  ),
});

/** A post as JSON, and how many of its items are there in part only; undefined when it is no JSON object in UTF-8. */
export async function parseCallbackBody(
  bytes: Buffer,
): Promise<{ readonly json: JsonObject; readonly cut: number } | undefined> {
  if (!isUtf8(bytes)) return undefined;
  try {
    const { value, cut } = await parse(bytes);
    return isObject(value) ? { json: value, cut } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TooLargeError) return undefined;
    throw error;
  }
}

async function parse(bytes: Buffer): Promise<Shaped> {
  if (bytes.length > AT_ONCE_BYTES_MAX) return parseShapedJson(bytes, POST);
  return { value: JSON.parse(bytes.toString('utf8')), cut: 0 };
}

function members(of: Readonly<Record<string, Shape>>): Shape {
  return { kind: 'members', members: of };
}

function entries(of: Shape): Shape {
  return { kind: 'entries', entries: of };
}

function item(names: readonly string[]): Shape {
  return { kind: 'item', members: Object.fromEntries(names.map((name) => [name, SMALL])) };
}
