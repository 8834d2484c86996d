import { spend } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';
import { MAX_DEPTH } from '../bson/path.ts';
import { Elements, isContainer, isEmptyContainer, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { TOO_DEEP, validDocumentEnd } from '../bson/validate.ts';
import { asString } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { parseExpression } from '../query/expression.ts';
import { isOperators } from '../query/filter.ts';
import { applyTree } from './apply.ts';
import { addChange, type DocumentScope, newTree, REMOVE, type UpdateTree } from './node.ts';

/** An update given as an array of stages. Each stage sees the document that the one before made. */
export interface Pipeline {
  readonly paths: readonly string[];
  apply(scope: DocumentScope, out: BsonWriter): void;
}

export function parsePipeline(stages: Value): Pipeline {
  const parts = valuesOf(stages);
  checkLength(parts.length);
  const trees = parts.map(parseStage);
  const between = new BsonWriter();
  return {
    paths: trees.flatMap((tree) => tree.paths),
    apply(scope, out) {
      // Two writers take turns, so that the last stage writes into `out`.
      let current = scope;
      for (const [i, tree] of trees.entries()) {
        const writer = (trees.length - i) % 2 === 1 ? out : between;
        applyStage(tree, current, writer);
        current = { ...scope, buf: writer.buf, pos: 0 };
      }
      if (trees.length === 0) applyTree(newTree('as named').root, scope, out, true);
    },
  };
}

/** Writes the document that one stage makes. Throws 15 when it is nested too deep. */
function applyStage(tree: UpdateTree, scope: DocumentScope, out: BsonWriter): void {
  tree.nested = false;
  applyTree(tree.root, scope, out, true);
  spend(out.length);
  if (!tree.nested || validDocumentEnd(out.buf, 0, out.length) !== TOO_DEEP) return;
  throw new StoreError(15, `cannot nest a document deeper than ${MAX_DEPTH} levels`);
}

/** mongod's `internalPipelineLengthLimit`. */
const STAGES_MAX = 1000;

export function checkLength(stages: number): void {
  if (stages > STAGES_MAX) throw new StoreError(7749501, `Pipeline length must be no longer than ${STAGES_MAX} stages`);
}

/** One stage as a tree of changes: `$set`, `$unset`. */
function parseStage(stage: Value): UpdateTree {
  if (stage.type !== TYPE.object) throw new StoreError(14, 'Each element of an update pipeline must be an object');
  const elements = new Elements(stage.buf, stage.pos);
  if (!elements.next())
    throw new StoreError(40323, 'A pipeline stage specification object must contain exactly one field.');
  const name = elements.name();
  const argument = elements.value();
  if (elements.next()) {
    throw new StoreError(40323, 'A pipeline stage specification object must contain exactly one field.');
  }
  const tree = newTree('as named');
  switch (name) {
    case '$set':
      if (argument.type !== TYPE.object) throw new StoreError(40272, `${name} specification stage must be an object`);
      addFields(tree, '', argument);
      return tree;
    case '$unset':
      for (const path of unsetPaths(argument)) addChange(tree, path, REMOVE);
      return tree;
    default:
      throw notSupported(`The update stage ${name}`);
  }
}

/** An object that is no expression names fields inside: `{ a: { b: 1 } }` sets `a.b` and keeps what else `a` has. */
function addFields(tree: UpdateTree, prefix: string, spec: Value): void {
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    const path = prefix + elements.name();
    const value = elements.value();
    if (value.type !== TYPE.object || isOperators(value)) {
      const expression = parseExpression(value);
      const next = (_current: Value, scope: DocumentScope): Value => {
        const computed = expression(scope);
        if (isContainer(computed.type)) tree.nested = true;
        return computed;
      };
      addChange(tree, path, { next, creates: true, onInsertOnly: false });
    } else if (isEmptyContainer(value.buf, value.pos)) {
      throw new StoreError(40180, `an empty object is not a valid value. Found empty object at path ${path}`);
    } else {
      addFields(tree, `${path}.`, value);
    }
  }
}

function unsetPaths(argument: Value): string[] {
  const paths = (argument.type === TYPE.array ? valuesOf(argument) : [argument]).map(asString);
  if (paths.length === 0)
    throw new StoreError(31119, '$unset specification must be a string or an array with at least one field');
  return paths.map((path) => {
    if (path === undefined)
      throw new StoreError(31120, '$unset specification must be a string or an array containing only string values');
    return path;
  });
}
