import { malformed, notSupported } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { Sum } from '../bson/number.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { isNumber, NULL } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { type Expression, type ExpressionContext, parseExpression } from '../query/expression.ts';
import { collecting, memoryLimit, type Results } from './results.ts';

interface Field {
  readonly name: string;
  readonly expression: Expression;
}

/** `$group` with the accumulator `$sum`. */
export function parseGroup(spec: Value, context: ExpressionContext): (inner: Results) => Results {
  let id: Expression | undefined;
  const fields: Field[] = [];
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    const name = elements.name();
    if (name !== '_id') fields.push(parseField(name, elements.value()));
    else id = parseExpression(elements.value());
  }
  if (id === undefined) throw malformed('a group specification must include an _id');
  const by = id;
  return (inner) => grouped(inner, by, fields, context);
}

function parseField(name: string, value: Value): Field {
  if (value.type !== TYPE.object || name.includes('.') || name.startsWith('$'))
    throw malformed(`no accumulator: ${name}`);
  const elements = new Elements(value.buf, value.pos);
  const operator = elements.next() ? elements.name() : '';
  const operand = elements.value();
  if (operator !== '$sum' || operand.type === TYPE.array || elements.next())
    throw notSupported(`The accumulator ${operator}`);
  return { name, expression: parseExpression(operand) };
}

interface Group {
  readonly id: Value;
  readonly sums: readonly Sum[];
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
        group = { id, sums: fields.map(() => new Sum()) };
        groups.set(text, group);
        bytes += GROUP_BYTES + doc.length;
        memoryLimit(bytes, 'Group');
      }
      for (const [i, field] of fields.entries()) {
        const value = field.expression(scope);
        if (isNumber(value.type)) group.sums[i]?.add(value); // as in mongod, what is no number adds nothing
      }
    },
    () => groupDocuments(groups.values(), fields),
  );
}

function* groupDocuments(groups: Iterable<Group>, fields: readonly Field[]): Generator<Buffer, void> {
  for (const group of groups) yield groupDocument(group, fields);
}

function groupDocument(group: Group, fields: readonly Field[]): Buffer {
  const out = new BsonWriter(256);
  const handle = out.begin();
  out.value('_id', group.id);
  for (const [i, field] of fields.entries()) out.value(field.name, group.sums[i]?.value() ?? NULL);
  return out.finish(handle);
}
