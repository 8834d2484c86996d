import { StoreError } from '../bson/errors.ts';

/** mongod's limits; a key of LMDB has room for more. */
const NAMESPACE_BYTES_MAX = 255;
const DATABASE_BYTES_MAX = 63;

/** Throws 73 for names that are none, or too long. */
export function checkNamespace(db: string, name: string): void {
  checkDatabase(db);
  const bad = name === '' || name.startsWith('.') || name.startsWith('system.') || /[$\0]/.test(name);
  if (bad) throw new StoreError(73, `Invalid namespace specified '${shown(`${db}.${name}`)}'`);
  if (Buffer.byteLength(`${db}.${name}`) > NAMESPACE_BYTES_MAX) {
    throw new StoreError(
      73,
      `Fully qualified namespace is too long. Namespace: ${shown(`${db}.${name}`)} Max: ${NAMESPACE_BYTES_MAX}`,
    );
  }
}

export function checkDatabase(db: string): void {
  if (db !== '' && !/[/\\. "$\0]/.test(db) && Buffer.byteLength(db) <= DATABASE_BYTES_MAX) return;
  throw new StoreError(73, `Invalid database name: '${shown(db)}'`);
}

function shown(name: string): string {
  return name.length > NAMESPACE_BYTES_MAX ? `${name.slice(0, NAMESPACE_BYTES_MAX)}…` : name;
}
