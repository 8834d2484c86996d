import { type Document, Double, Long, serialize } from 'bson';
import { Command } from '../../../workers/embedded-db/commands/command.ts';
import { handlerOf } from '../../../workers/embedded-db/commands/registry.ts';
import type { Prng } from '../../support/prng.ts';

const NAMES =
  'hello ismaster ping endSessions buildInfo serverStatus find getMore killCursors aggregate count listIndexes listCollections drop createIndexes insert update delete findAndModify';

/** Every command with its fields, except `dropDatabase` and `harkaraBackup`, which reach beyond a collection. */
const COMMANDS: readonly (readonly [name: string, fields: readonly string[]])[] = NAMES.split(' ').map((name) => {
  const { fields } = handlerOf(new Command(Buffer.from(serialize({ [name]: 'a' })), new Map()));
  return [name, [...fields].filter((field) => field !== name && field !== '$db')];
});

const VALUES: readonly ((random: Prng) => unknown)[] = [
  () => null,
  () => true,
  () => 1,
  () => -1,
  () => 0,
  () => 2_147_483_647,
  () => new Double(Number.NaN),
  () => new Double(Number.POSITIVE_INFINITY),
  () => new Double(1e300),
  () => new Double(-0),
  () => Long.MAX_VALUE,
  () => Long.MIN_VALUE,
  () => '',
  () => 'a',
  () => 'a\0b',
  () => '$a',
  () => 'x'.repeat(8_000),
  () => new Date(Number.NaN),
  () => ({}),
  () => [],
  (random) => nested(150 + random.below(100)),
  (random) => Array.from({ length: 2_000 }, () => random.below(10)),
  (random) => Array.from({ length: 3 }, () => oddValue(random)),
  (random) => ({ [oddName(random)]: oddValue(random), [oddName(random)]: oddValue(random) }),
  (random) => [{ q: oddValue(random), u: oddValue(random), limit: oddValue(random) }],
  (random) => [{ key: oddValue(random), name: oddValue(random), unique: oddValue(random) }],
  (random) => [{ [random.pick(['$match', '$sort', '$limit', '$group', '$set', '$unset'])]: oddValue(random) }],
];

function oddValue(random: Prng): unknown {
  return VALUES[random.below(VALUES.length)]?.(random);
}

function oddName(random: Prng): string {
  return random.pick([
    'a',
    '_id',
    '',
    '.',
    'a..b',
    '$',
    '$set',
    '$gt',
    '$and',
    '__proto__',
    'n'.repeat(300),
    '0',
    'a.0.b',
  ]);
}

function nested(levels: number): Document {
  let doc: Document = {};
  for (let i = 0; i < levels; i++) doc = { a: doc };
  return doc;
}

/** A command with some of its fields, each of an unusual type; sometimes a field twice. */
export function oddCommand(random: Prng, db: string): Uint8Array {
  const [name = 'ping', fields] = random.pick(COMMANDS) ?? ['ping', []];
  const command: Document = { [name]: random.below(4) === 0 ? oddValue(random) : 'a' };
  for (let left = random.below(5); left > 0 && fields !== undefined; left--) {
    command[random.pick(fields) ?? 'comment'] = oddValue(random);
  }
  const bytes = Buffer.from(serialize({ ...command, $db: db }));
  return random.below(20) === 0 ? withLastFieldTwice(bytes, Buffer.from(serialize({ $db: db }))) : bytes;
}

/** Both documents' elements, so that `$db` is there twice. */
function withLastFieldTwice(body: Buffer, again: Buffer): Buffer {
  const joined = Buffer.concat([body.subarray(0, -1), again.subarray(4)]);
  joined.writeInt32LE(joined.length, 0);
  return joined;
}

/** A faulty message: bytes changed or cut off, another one behind it, compressed, or too many sections. */
export function oddFrames(random: Prng, db: string): Buffer {
  const one = frame(oddCommand(random, db));
  const two = frame(oddCommand(random, db));
  switch (random.below(6)) {
    case 0:
      return one.subarray(0, random.below(one.length));
    case 1:
      return Buffer.concat([one, two]);
    case 2:
      one.writeInt32LE(random.pick([2012, 2004, 1, 2001, -1]), 12);
      return one;
    case 3:
      one.writeInt32LE(random.pick([0, 15, 16, 17, 20, 21, one.length - 1, one.length + 7, -1, 2 ** 31 - 1]), 0);
      return Buffer.concat([one, two]);
    case 4: {
      const section = sequence(random.pick(['documents', 'updates', 'filter', '', 'x']), oddCommand(random, db));
      const out = Buffer.concat([one, section, random.below(2) === 0 ? section : Buffer.alloc(0)]);
      out.writeInt32LE(out.length, 0);
      return out;
    }
    default: {
      for (let left = 1 + random.below(4); left > 0; left--)
        one[16 + random.below(one.length - 16)] = random.below(256);
      return one;
    }
  }
}

function frame(body: Uint8Array): Buffer {
  const message = Buffer.alloc(21 + body.length);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(2013, 12);
  message.set(body, 21);
  return message;
}

function sequence(name: string, document: Uint8Array): Buffer {
  const head = Buffer.from(`\x01\0\0\0\0${name}\0`);
  head.writeInt32LE(head.length - 1 + document.length, 1);
  return Buffer.concat([head, document]);
}
