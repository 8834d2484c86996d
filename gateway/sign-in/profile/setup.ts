import { StartError } from '../../../shared/runtime/lifecycle.ts';
import type { SecretBox } from '../../../shared/runtime/secret-box.ts';
import type { UserDocument } from '../../../shared/users/user.ts';

/** How long a seed that was shown may be confirmed. */
export const SETUP_MS = 15 * 60_000;

/**
 * A seed on its way to the app and back, sealed, so that nothing is stored before a code confirms it. It is for this user, and
 * void as soon as something ends the user's sessions; its own confirmation does.
 */
export function sealSetup(box: SecretBox, { _id, epoch }: UserDocument, seed: string, until: Date): string {
  return box.seal(JSON.stringify([_id, epoch, until.getTime(), seed]));
}

/** The seed; undefined when the setup is too old, void, or no setup at all. */
export function openSetup(box: SecretBox, { _id, epoch }: UserDocument, setup: string, now: Date): string | undefined {
  const parts: unknown = JSON.parse(opened(box, setup) ?? 'null');
  if (!Array.isArray(parts)) return undefined;
  const [user, of, untilMs, seed]: unknown[] = parts;
  const valid = user === _id && of === epoch && typeof untilMs === 'number' && untilMs > now.getTime();
  return valid && typeof seed === 'string' ? seed : undefined;
}

function opened(box: SecretBox, setup: string): string | undefined {
  // Other sealed texts never come into a caller's hands.
  if (!/^v1\.[\w-]{16}\.[\w-]{22}\.[\w-]+$/.test(setup)) return undefined;
  try {
    return box.open(setup);
  } catch (error) {
    if (error instanceof StartError) return undefined;
    throw error;
  }
}
