import { existsSync } from 'node:fs';
import type { Db } from 'mongodb';
import type { Config } from '../config/settings.ts';
import { StartError } from '../runtime/lifecycle.ts';
import { createSecretBox, type SecretBox } from '../runtime/secret-box.ts';
import { loadSecretKeys, secretKeyFile } from '../runtime/secret-keys.ts';

/**
 * The box of the installation's secret key. The key is made at the first start. Throws `StartError` when it is missing although
 * secrets were sealed with it: a new one could open none of them, and what is entered meanwhile would be lost with it later.
 */
export async function openSecretBox(
  { secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>,
  db: Db,
): Promise<SecretBox> {
  const file = secretKeyFile(dataDir);
  const isMissing = () => secretKey === '' && !existsSync(file);
  // Looked for again: another process may have made the key meanwhile and sealed the first secret with it.
  if (isMissing() && (await hasSecrets(db)) && isMissing()) throw new StartError(lostKey(file));
  return createSecretBox(loadSecretKeys(secretKey, dataDir));
}

function lostKey(file: string): string {
  return `There is no secret key (HARKARA_SECRET_KEY, or ${file}), but the store has secrets that were sealed with one: put it back, from your copy or from another machine of the product. Only when it is lost for good, make a new one with \`openssl rand -hex 32 > ${file}\`, and enter all secrets again (docs/operating.md).`;
}

/** Whether the store has secrets that are kept until somebody changes them. */
async function hasSecrets(db: Db): Promise<boolean> {
  const found = await Promise.all([
    db.collection('carriers').findOne({}),
    db.collection('providers').findOne({}),
    db.collection('endpoints').findOne({}),
    db.collection('users').findOne({ totp: { $exists: true } }),
  ]);
  return found.some((one) => one !== null);
}
