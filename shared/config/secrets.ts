/** Settings whose values nobody may see. */
export const SECRET_SETTINGS = ['MONGODB_URI', 'HARKARA_SECRET_KEY'] as const;

/**
 * Environment variables whose values nobody may see: the settings above and what `ops` asks for. PM2 keeps the environment of its
 * processes and writes it to a world-readable file (`pm2 save`), so none of these is ever given to PM2.
 */
export const SECRET_VARIABLES = [
  ...SECRET_SETTINGS,
  'STORE_URI',
  'SMPP_PASSWORD',
  'CHATAPP_TOKEN',
  'CHATAPP_APP_SECRET',
] as const;

/** What `ops` asks for. */
export type AskedSecret = Exclude<(typeof SECRET_VARIABLES)[number], (typeof SECRET_SETTINGS)[number]>;

/** Whether a variable holds a secret. A MongoDB address without user and password does not. */
export function isSecret(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '') return false;
  if (name === 'MONGODB_URI' || name === 'STORE_URI') return value.includes('@');
  return SECRET_VARIABLES.some((known) => known === name);
}
