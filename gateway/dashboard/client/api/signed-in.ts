import { signal } from '@preact/signals';

/** The session ended while a page was open: frame/sign-in-again.tsx asks over the page, then calls `resolve`. */
export const signInAsked = signal<((again: boolean) => void) | undefined>(undefined);

let asking: Promise<boolean> | undefined;
let wasSignedIn = false;

/** From now on an answer 401 means that the session has ended. Before, it means that there is none yet. */
export function setSignedIn(is: boolean): void {
  wasSignedIn = is;
}

/** Resolves with true when the user has signed in again. Calls that fail together ask once. */
export function signInAgain(path: string): Promise<boolean> {
  if (!wasSignedIn || path.startsWith('/v2/session')) return Promise.resolve(false);
  asking ??= new Promise<boolean>((resolve) => {
    signInAsked.value = (again) => {
      signInAsked.value = undefined;
      asking = undefined;
      resolve(again);
    };
  });
  return asking;
}
