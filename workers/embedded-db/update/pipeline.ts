import { spend } from '../bson/effort.ts';
import { malformed, notSupported, StoreError } from '../bson/errors.ts';
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
  const trees = stagesIn(stages).map(parseStage);
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
      if (trees.length === 0) applyTree(newTree().root, scope, out, true);
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

export interface Stage {
  readonly name: string;
  readonly argument: Value;
}

/** The stages of an update or an aggregation. */
export function stagesIn(pipeline: Value): Stage[] {
  const stages = valuesOf(pipeline);
  if (stages.length > STAGES_MAX) throw malformed(`Pipeline length must be no longer than ${STAGES_MAX} stages`);
  return stages.map(({ type, buf, pos }) => {
    if (type !== TYPE.object) throw malformed('a pipeline stage must be a document');
    const elements = new Elements(buf, pos);
    const found = elements.next() ? { name: elements.name(), argument: elements.value() } : undefined;
    if (found === undefined || elements.next()) throw malformed('a pipeline stage has exactly one field');
    return found;
  });
}

/** One stage as a tree of changes: `$set`, `$unset`. */
function parseStage({ name, argument }: Stage): UpdateTree {
  const tree = newTree();
  switch (name) {
    case '$set':
      if (argument.type !== TYPE.object) throw malformed('$set needs a document');
      addFields(tree, '', argument);
      return tree;
    case '$unset':
      for (const path of argument.type === TYPE.array ? valuesOf(argument) : [argument]) {
        const text = asString(path);
        if (text === undefined) throw malformed('$unset needs names of fields');
        addChange(tree, text, REMOVE);
      }
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
      throw malformed(`an empty object is not a valid value. Found empty object at path ${path}`);
    } else {
      addFields(tree, `${path}.`, value);
    }
  }
}
