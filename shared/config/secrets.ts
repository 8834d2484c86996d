/** Settings whose values nobody may see. */
export const SECRET_SETTINGS = ['MONGODB_URI', 'HARKARA_SECRET_KEY'] as const;

/**
 * Variables whose values nobody may see: those settings, and what `ops` asks for. PM2 keeps the environment of what it runs, and writes
 * it to a file that everybody may read (`pm2 save`); so none of them is ever given to it.
 */
export const SECRET_VARIABLES = [...SECRET_SETTINGS, 'SMPP_PASSWORD', 'CHATAPP_TOKEN', 'CHATAPP_APP_SECRET'] as const;

export type SecretVariable = (typeof SECRET_VARIABLES)[number];

/** Whether a variable has a secret in it: an address of MongoDB without user and password has none. */
export function isSecret(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '') return false;
  if (name === 'MONGODB_URI') return value.includes('@');
  return SECRET_VARIABLES.some((known) => known === name);
}
