import type { UserDocument } from '../../../shared/people/users/user.ts';
import { StartError } from '../../../shared/platform/runtime/lifecycle.ts';
import { SEALED_TEXT, type SecretBox } from '../../../shared/platform/runtime/secret-box.ts';

/** How long a seed that was shown may be confirmed. */
export const SETUP_MS = 15 * 60_000;

/**
 * A seed on its way to the app and back, sealed, so that nothing is stored before a code confirms it. It is for this user, and
 * void as soon as something ends the user's sessions; its own confirmation does.
 */
export function sealSetup(box: SecretBox, { _id, epoch }: UserDocument, seed: string, until: Date): string {
  return box.seal(JSON.stringify([epoch, until.getTime(), seed]), ['users', _id, 'setup']);
}

/** The seed; undefined when the setup is too old, void, or no setup at all. */
export function openSetup(box: SecretBox, { _id, epoch }: UserDocument, setup: string, now: Date): string | undefined {
  const parts: unknown = JSON.parse(opened(box, _id, setup) ?? 'null');
  if (!Array.isArray(parts)) return undefined;
  const [of, untilMs, seed]: unknown[] = parts;
  const valid = of === epoch && typeof untilMs === 'number' && untilMs > now.getTime();
  return valid && typeof seed === 'string' ? seed : undefined;
}

function opened(box: SecretBox, user: string, setup: string): string | undefined {
  if (!SEALED_TEXT.test(setup)) return undefined;
  try {
    return box.open(setup, ['users', user, 'setup']);
  } catch (error) {
    if (error instanceof StartError) return undefined;
    throw error;
  }
}
