import { signal } from '@preact/signals';

interface SignInAsked {
  /** Somebody else has signed in in another tab: all tabs have one session. */
  readonly byOther: boolean;
  readonly resolve: (again: boolean) => void;
}

/** The gateway wants the password again before it does something: pages/sign-in/sign-in.tsx asks, then calls `resolve`. */
export const confirmAsked = signal<{ readonly resolve: (confirmed: boolean) => void } | undefined>(undefined);

/** The session ended while a page was open: pages/sign-in/sign-in.tsx asks over the page, then calls `resolve`. */
export const signInAsked = signal<SignInAsked | undefined>(undefined);

let asking: Promise<boolean> | undefined;
let confirming: Promise<boolean> | undefined;
let userId: string | undefined;

/** From now on an answer 401 means that the session has ended. Before, it means that there is none yet. */
export function setSignedIn(as: string | undefined): void {
  userId = as;
}

/** For whom this page is: the gateway refuses what comes from a page of somebody else. */
export function userHeader(): Record<string, string> {
  return userId === undefined ? {} : { 'x-dashboard-user': userId };
}

/** Resolves with true when the user has signed in again. Calls that fail together ask once. */
export function signInAgain(path: string, byOther: boolean): Promise<boolean> {
  if (userId === undefined || path.startsWith('/v2/session')) return Promise.resolve(false);
  asking ??= new Promise<boolean>((resolve) => {
    signInAsked.value = {
      byOther,
      resolve: (again) => {
        signInAsked.value = undefined;
        asking = undefined;
        resolve(again);
      },
    };
  });
  return asking;
}

/** Resolves with true when the user has shown the password again. Calls that are refused together ask once. */
export function confirmAgain(): Promise<boolean> {
  confirming ??= new Promise<boolean>((resolve) => {
    confirmAsked.value = {
      resolve: (confirmed) => {
        confirmAsked.value = undefined;
        confirming = undefined;
        resolve(confirmed);
      },
    };
  });
  return confirming;
}
