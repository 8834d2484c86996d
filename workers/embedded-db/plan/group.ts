import { notSupported, StoreError } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { arithmetic } from '../bson/number.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asNumber, double, int32, isNullish, isNumber, NULL, show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { type Expression, type ExpressionContext, parseExpression } from '../query/expression.ts';
import { arrayValue, compareExpressions } from '../query/operations.ts';
import { collecting, memoryLimit, type Results } from './results.ts';

/** One group's state for one field. */
interface Accumulator {
  add(value: Value): void;
  result(): Value;
}

interface Field {
  readonly name: string;
  readonly expression: Expression;
  readonly make: () => Accumulator;
}

/** `$group` with the accumulators `$sum $min $max $first $last $push`. */
export function parseGroup(spec: Value, context: ExpressionContext): (inner: Results) => Results {
  if (spec.type !== TYPE.object) throw new StoreError(15947, "a group's fields must be specified in an object");
  let id: Expression | undefined;
  const fields: Field[] = [];
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    if (elements.name() === '_id') id = parseExpression(elements.value());
    else fields.push(parseField(elements.name(), elements.value()));
  }
  if (id === undefined) throw new StoreError(15955, 'a group specification must include an _id');
  const by = id;
  return (inner) => grouped(inner, by, fields, context);
}

function parseField(name: string, value: Value): Field {
  if (value.type !== TYPE.object) throw new StoreError(40234, `The field '${name}' must be an accumulator object`);
  const elements = new Elements(value.buf, value.pos);
  const operator = elements.next() ? elements.name() : '';
  const make = ACCUMULATORS.get(operator);
  if (make === undefined) throw notSupported(`The accumulator ${operator} in ${show(value)}`);
  return { name, expression: parseExpression(elements.value()), make };
}

interface Group {
  readonly id: Value;
  readonly accumulators: readonly Accumulator[];
}

/** Bytes that a group costs beside its values; a guess on the safe side. */
const GROUP_BYTES = 200;

function grouped(inner: Results, by: Expression, fields: readonly Field[], context: ExpressionContext): Results {
  const groups = new Map<string, Group>();
  const key = new KeyBuffer();
  let bytes = 0;
  return collecting(
    inner,
    (doc) => {
      const scope = { buf: doc, pos: 0, context };
      const found = by(scope);
      const id = found.type === TYPE.missing ? NULL : found;
      key.start(0).append(id.type, id.buf, id.pos);
      const text = key.view().toString('latin1');
      let group = groups.get(text);
      if (group === undefined) {
        group = { id, accumulators: fields.map((field) => field.make()) };
        groups.set(text, group);
        bytes += GROUP_BYTES + doc.length;
        memoryLimit(bytes, 'Group');
      }
      for (const [i, field] of fields.entries()) group.accumulators[i]?.add(field.expression(scope));
    },
    () => [...groups.values()].map((group) => groupDocument(group, fields)),
  );
}

function groupDocument(group: Group, fields: readonly Field[]): Buffer {
  const out = new BsonWriter(256);
  const handle = out.begin();
  out.value('_id', group.id);
  for (const [i, field] of fields.entries()) {
    const result = group.accumulators[i]?.result() ?? NULL;
    out.value(field.name, result.type === TYPE.missing ? NULL : result);
  }
  return out.finish(handle);
}

const ACCUMULATORS: ReadonlyMap<string, () => Accumulator> = new Map([
  ['$sum', sum],
  ['$min', () => extreme(-1)],
  ['$max', () => extreme(1)],
  ['$first', first],
  ['$last', last],
  ['$push', push],
]);

function sum(): Accumulator {
  let total = int32(0);
  return {
    add(value) {
      if (!isNumber(value.type)) return; // as in mongod, what is no number adds nothing
      if (value.type === TYPE.decimal) throw notSupported('$sum of Decimal128');
      total = arithmetic('add', total, value) ?? double((asNumber(total) ?? 0) + (asNumber(value) ?? 0));
    },
    result: () => total,
  };
}

function extreme(direction: 1 | -1): Accumulator {
  let best: Value = NULL;
  return {
    add(value) {
      if (isNullish(value.type)) return;
      if (best === NULL || compareExpressions(value, best) * direction > 0) best = value;
    },
    result: () => best,
  };
}

function first(): Accumulator {
  let found: Value | undefined;
  return {
    add(value) {
      found ??= value;
    },
    result: () => found ?? NULL,
  };
}

function last(): Accumulator {
  let found: Value = NULL;
  return {
    add(value) {
      found = value;
    },
    result: () => found,
  };
}

function push(): Accumulator {
  const values: Value[] = [];
  return {
    add(value) {
      if (value.type !== TYPE.missing) values.push(value);
    },
    result: () => arrayValue(values),
  };
}

/** `{ _id: 1, n: { $sum: 1 } }`: how drivers count. */
export function isPlainCount(spec: Value): boolean {
  if (spec.type !== TYPE.object) return false;
  return /^\{ _id: (1|null), \w+: \{ \$sum: 1 \} \}$/.test(show(spec));
}
