import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import {
  addKey,
  createSecretBox,
  dropOldKeys,
  keyId,
  loadSecretKeys,
  SEALED_FIELDS,
  SEALED_TEXT,
  type SealedPlace,
  type SecretKeys,
  SecretUnreadable,
} from '../../shared/platform/runtime/secret-box.ts';
import { type Command, defineCommand, Failure, integer, withDefault } from './command.ts';

export const SECRETS_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'secrets',
    verb: 'reseal',
    about: 'Changes the secret key: makes a new one, seals every stored secret with it, and drops the old one.',
    args: {},
    options: {
      settleSeconds: withDefault(
        integer('N', 0, 600),
        '60',
        'how long to wait for processes that have just sealed something and store it now; 0: none runs',
      ),
    },
    notes:
      'The product runs meanwhile: its processes read the key file again when it changes. Binds of carriers begin anew, once.\n' +
      'When it is interrupted, run it again: both keys are in the file until everything is sealed with the new one.\n' +
      'Several machines, or HARKARA_SECRET_KEY: put the new key before the old one on every machine first (docs/operating.md).\n' +
      'Keep a copy of the old key for as long as you keep backups that were made before.',
    async run({ settleSeconds }, { config, db, box, tell }) {
      const store = await db();
      await box(); // Refuses to create a key beside secrets that need another one.
      const { secretKey, dataDir } = config;
      const keys = loadSecretKeys(secretKey, dataDir);
      if (keys().length === 1) {
        if (secretKey !== '') throw new Failure(ONE_KEY);
        addKey(dataDir);
      }
      const before = await resealAll(store, keys);
      tell(`${before.resealed} secrets are sealed anew. Waiting ${settleSeconds} s for what is being stored just now.`);
      await wait(settleSeconds * 1_000);
      const after = await resealAll(store, keys);
      if (secretKey === '') dropOldKeys(dataDir);
      const key = keyId(keys()[0]);
      const resealed = before.resealed + after.resealed;
      const { unreadable } = after;
      const next =
        secretKey === ''
          ? 'The old key is no longer in the file: keep a copy for backups that were made before.'
          : 'Now take the old key out of HARKARA_SECRET_KEY on every machine and reload; keep a copy for backups that were made before.';
      const lost =
        unreadable.length === 0
          ? []
          : [
              `NOT READABLE, sealed with a key that is not there, or altered: ${unreadable.join(', ')}. Enter these again.`,
            ];
      return {
        text: [`${resealed} secrets are sealed with the new key (id ${key}). ${next}`, ...lost].join('\n'),
        json: { key_id: key, resealed, unreadable },
        ok: unreadable.length === 0,
      };
    },
  }),
];

const ONE_KEY =
  'HARKARA_SECRET_KEY has one key. Put a new one before it, with a comma between (`openssl rand -hex 32`), on every machine; reload, and run this again.';

interface Pass {
  readonly resealed: number;
  /** `field of id (collection)` */
  readonly unreadable: readonly string[];
}

/** Reseals with the first key whatever another one has sealed, until nothing is left. */
async function resealAll(db: Db, keys: SecretKeys): Promise<Pass> {
  for (let resealed = 0; ; ) {
    const pass = await resealOnce(db, keys);
    resealed += pass.resealed;
    if (pass.resealed === 0) return { resealed, unreadable: pass.unreadable };
  }
}

async function resealOnce(db: Db, keys: SecretKeys): Promise<Pass> {
  const box = createSecretBox(keys);
  let resealed = 0;
  const unreadable: string[] = [];
  for (const [name, fields] of Object.entries(SEALED_FIELDS)) {
    const collection = db.collection<{ _id: string }>(name);
    const sealed = { $or: fields.map((field) => ({ [field]: { $regex: '^v2\\.' } })) };
    for await (const document of collection.find(sealed)) {
      for (const field of fields) {
        for (const { path, text } of sealedTexts(document, field)) {
          if (SEALED_TEXT.exec(text)?.[1] === keyId(keys()[0])) continue;
          const place = placeOf(name, document._id, field);
          try {
            const fresh = box.seal(box.open(text, place), place);
            // If somebody has changed it meanwhile, it is sealed with the new key already.
            const { modifiedCount } = await collection.updateOne(
              { _id: document._id, [path]: text },
              { $set: { [path]: fresh } },
            );
            resealed += modifiedCount;
          } catch (error) {
            if (!(error instanceof SecretUnreadable)) throw error;
            unreadable.push(`${field} of ${document._id} (${name})`);
          }
        }
      }
    }
  }
  return { resealed, unreadable };
}

function placeOf(collection: string, id: string, field: string): SealedPlace {
  const document = field === 'result' ? id.slice(0, id.indexOf(':')) : id;
  return [collection, document, field] as SealedPlace; // names of SEALED_FIELDS
}

/** The sealed texts of a field, each with its path; the field may be inside lists. */
function sealedTexts(value: unknown, field: string, at: readonly string[] = []): { path: string; text: string }[] {
  if (Array.isArray(value)) return value.flatMap((one, i) => sealedTexts(one, field, [...at, String(i)]));
  if (field === '')
    return typeof value === 'string' && SEALED_TEXT.test(value) ? [{ path: at.join('.'), text: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  const [name = '', ...rest] = field.split('.');
  return sealedTexts(new Map(Object.entries(value)).get(name), rest.join('.'), [...at, name]);
}
