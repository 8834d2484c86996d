import { malformed, notSupported } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asFlag } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';

export type Projection = (doc: Buffer) => Buffer;

interface Node {
  readonly children: Map<string, Node>;
}

/** Parses `{ balance: 1, seq: 1 }` or `{ pending: 0 }`; undefined when it leaves documents as they are. */
export function parseProjection(spec: Value): Projection | undefined {
  if (spec.type === TYPE.missing || spec.type === TYPE.null) return undefined;
  if (spec.type !== TYPE.object) throw malformed('a projection is a document');
  const root: Node = { children: new Map() };
  let including: boolean | undefined;
  let id: boolean | undefined;
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    const name = elements.name();
    const wanted = asFlag(elements.value());
    if (wanted === undefined || name.includes('$')) {
      throw notSupported('A projection other than including or excluding fields');
    }
    if (name === '_id') {
      id = wanted;
      continue;
    }
    if (wanted !== (including ?? wanted)) throw malformed('a projection includes fields or excludes them');
    including = wanted;
    add(root, name);
  }
  if (including === undefined && id === undefined) return undefined;
  const inclusion = including ?? id ?? false;
  if (inclusion ? id !== false : id === false) add(root, '_id');
  const writer = new BsonWriter();
  return (doc) => {
    const handle = writer.begin();
    if (inclusion) include(root, doc, 0, writer);
    else exclude(root, doc, 0, writer);
    return writer.finish(handle);
  };
}

function add(root: Node, path: string): void {
  let node = root;
  const names = path.split('.');
  for (const [level, name] of names.entries()) {
    let child = node.children.get(name);
    const last = level === names.length - 1;
    if (child === undefined) {
      child = { children: new Map() };
      node.children.set(name, child);
    } else if (last || child.children.size === 0) {
      throw malformed(`Path collision at ${path}`);
    }
    node = child;
  }
}

function include(node: Node, buf: Buffer, doc: number, out: BsonWriter): void {
  const elements = new Elements(buf, doc);
  while (elements.next()) {
    const name = elements.name();
    const child = node.children.get(name);
    if (child === undefined) continue;
    if (child.children.size === 0) out.raw(buf, elements.start, elements.end);
    else if (elements.type === TYPE.object) inside(include, child, name, elements, out);
    else if (elements.type === TYPE.array) eachElement(include, child, name, elements, out);
  }
}

function exclude(node: Node, buf: Buffer, doc: number, out: BsonWriter): void {
  const elements = new Elements(buf, doc);
  while (elements.next()) {
    const name = elements.name();
    const child = node.children.get(name);
    if (child === undefined) out.raw(buf, elements.start, elements.end);
    else if (child.children.size === 0) continue;
    else if (elements.type === TYPE.object) inside(exclude, child, name, elements, out);
    else if (elements.type === TYPE.array) eachElement(exclude, child, name, elements, out);
    else out.raw(buf, elements.start, elements.end);
  }
}

type Apply = (node: Node, buf: Buffer, doc: number, out: BsonWriter) => void;

function inside(apply: Apply, node: Node, name: string, element: Elements, out: BsonWriter): void {
  const handle = out.object(name);
  apply(node, element.buf, element.pos, out);
  out.close(handle);
}

/** Applies it to each object of an array. An inclusion drops the array's scalars, an exclusion keeps them. */
function eachElement(apply: Apply, node: Node, name: string, array: Elements, out: BsonWriter): void {
  const handle = out.array(name);
  const elements = new Elements(array.buf, array.pos);
  let index = 0;
  while (elements.next()) {
    if (elements.type === TYPE.object) inside(apply, node, String(index++), elements, out);
    else if (elements.type === TYPE.array) eachElement(apply, node, String(index++), elements, out);
    else if (apply === exclude) out.value(String(index++), elements.value());
  }
  out.close(handle);
}
