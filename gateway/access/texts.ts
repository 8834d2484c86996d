import type { Requester } from '../http/context.ts';
import { isLooking } from './looking.ts';

/** How much of messages' texts somebody may see. `masked`: without the digits of codes (`maskCodes`). */
export type Texts = 'whole' | 'masked' | 'hidden';

/**
 * For what the account sent. Keys with `read` and users who may send see everything, viewers and operators no codes.
 * The account's setting `texts` may hide texts from operators or from everybody (docs/decisions/0043).
 */
export function textsFor({ who, account, scopes }: Pick<Requester, 'who' | 'account' | 'scopes'>): Texts {
  if (account?.texts === 'hidden') return 'hidden';
  if (isLooking({ account, scopes })) return account?.texts === 'own' ? 'hidden' : 'masked';
  return who.kind === 'user' && who.role === 'viewer' ? 'masked' : 'whole';
}

/** For what customers wrote: the account can always read it, because it answers it. */
export function receivedTextsFor(requester: Pick<Requester, 'who' | 'account' | 'scopes'>): Texts {
  return isLooking(requester) ? textsFor(requester) : 'whole';
}

/**
 * Hides the digits of codes: `Your code is 4711` → `Your code is ••••`. Codes cannot be told from other numbers in
 * every language, so all numbers of four digits and more are masked, also in groups (`123 456`, with any space or
 * dash), and words of letters and digits such as those in links. Amounts below 1,000, times and days stay.
 */
export function maskCodes(text: string): string {
  return text
    .replaceAll(/\p{Nd}(?:[\p{Zs}\p{Pd}]?\p{Nd}){3,}/gu, hide)
    .replaceAll(/[\p{L}\p{Nd}•]{4,}/gu, (word) => (/\p{Nd}/u.test(word) || word.includes('•') ? hide(word) : word));
}

function hide(word: string): string {
  return word.replaceAll(/[\p{L}\p{Nd}]/gu, '•');
}
