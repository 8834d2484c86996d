import { notSupported, StoreError } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asFlag, asNumber, asString, isNullish, show } from '../bson/value.ts';
import { type Command, documentOf, fieldsOf, refuseOption } from './command.ts';

/**
 * What a client may ask of how a command is read, stored and checked. Here everything is read as committed and answered when it is
 * on the disk, so only what asks for less or for the same is taken. What needs other members is answered as by a standalone mongod.
 */
export function checkConcerns(command: Command, kind: 'read' | 'write'): void {
  const read = command.get('readConcern');
  const write = command.get('writeConcern');
  if (read.type !== TYPE.missing) checkReadConcern(command.name, documentOf(read, 'readConcern'), kind);
  if (write.type !== TYPE.missing) checkWriteConcern(documentOf(write, 'writeConcern'));
  const version = command.get('apiVersion');
  if (version.type !== TYPE.missing && asString(version) !== '1') {
    throw new StoreError(322, `API version must be "1", not ${show(version)}`);
  }
  refuseOption('apiStrict', command.get('apiStrict'));
  refuseOption('apiDeprecationErrors', command.get('apiDeprecationErrors'));
}

function checkReadConcern(name: string, concern: Value, kind: 'read' | 'write'): void {
  if (concern.type === TYPE.missing) return;
  for (const [field, value] of fieldsOf(new Elements(concern.buf, concern.pos))) {
    if (field !== 'level') throw notSupported(`readConcern.${field}`);
    const level = asString(value) ?? '';
    if (level === 'local') continue;
    if (level === 'linearizable' || level === 'snapshot') {
      throw new StoreError(123, `node needs to be a replica set member to use read concern ${level}`);
    }
    if (level !== 'majority' && level !== 'available') {
      throw new StoreError(2, `Enumeration value ${show(value)} for field 'readConcern.level' is not a valid value.`);
    }
    if (kind === 'write') throw new StoreError(72, `Command ${name} does not support read concern ${level}`);
  }
}

const MAX_MEMBERS = 50;

function checkWriteConcern(concern: Value): void {
  if (concern.type === TYPE.missing) return;
  for (const [field, value] of fieldsOf(new Elements(concern.buf, concern.pos))) {
    if (field === 'w') checkAcknowledgements(value);
    else if (field === 'j') checkFlag(field, value);
    else if (field === 'wtimeout') checkTime(value);
    else throw new StoreError(9, `unrecognized write concern field: ${field}`);
  }
}

function checkAcknowledgements(w: Value): void {
  if (isNullish(w.type)) return;
  const mode = asString(w);
  if (mode === 'majority') return;
  if (mode !== undefined) {
    throw new StoreError(2, `cannot use non-majority 'w' mode ${mode} when a host is not a member of a replica set`);
  }
  const members = asNumber(w);
  if (members === undefined) throw new StoreError(9, 'w has to be a number, string, or object');
  if (!(members >= 0 && members <= MAX_MEMBERS)) {
    throw new StoreError(9, `w has to be a non-negative number and not greater than ${MAX_MEMBERS}; found: ${members}`);
  }
  if (members > 1) throw new StoreError(2, "cannot use 'w' > 1 when a host is not replicated");
}

function checkFlag(name: string, value: Value): void {
  if (!isNullish(value.type) && asFlag(value) === undefined)
    throw new StoreError(9, `${name} must be numeric or boolean`);
}

/** Only its form is checked: no write waits for other members, so no time runs out. */
function checkTime(value: Value): void {
  if (asNumber(value) === undefined) throw new StoreError(9, 'wtimeout must be a number');
}
