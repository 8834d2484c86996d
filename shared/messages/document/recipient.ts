import { oddCharacter } from '../../platform/sheets/cell.ts';

const FORM = 'Give 8 to 15 digits, country code first, for example 919876543210';

/**
 * Why `to` is not a phone number of the specification's form (digits, country code first); undefined when it is. Spec
 * gap: the length; 15 digits is E.164's maximum, 8 excludes short codes.
 */
export function recipientProblem(to: string): string | undefined {
  if (/^[1-9][0-9]{7,14}$/.test(to)) return undefined;
  if (to === '') return `It is empty. ${FORM}.`;
  const odd = oddCharacter(to);
  if (odd !== undefined) {
    return `Remove the character ${odd.name}, which is the ${ordinal(odd.place)}. It may look like nothing, or like a digit or sign. ${FORM}.`;
  }
  if (/^\+[0-9]+$/.test(to)) return `Remove the plus sign. ${FORM}.`;
  if (/^00[0-9]+$/.test(to)) return `Remove the leading 00. ${FORM}.`;
  if (/^0[0-9]*$/.test(to)) return `It must begin with the country code, which never begins with 0. ${FORM}.`;
  if (/^[0-9]+$/.test(to)) return `It has ${to.length} digits. ${FORM}.`;
  if (/[0-9]{8}[\s,;/|]+\+?[0-9]{8}/.test(to)) return `It holds several numbers. Give each by itself. ${FORM}.`;
  if (to.includes('(0)')) return `Write it as it is dialled from abroad, without (0). ${FORM}.`;
  // `919876543210.0`, `9.19877E+11`: without the point it would be another number.
  if (/^([0-9]{8,}[.,][0-9]+|[0-9][0-9.,]*E\+?[0-9]+)$/i.test(to)) {
    return `It is a decimal number, as spreadsheets write them: format its column as text. ${FORM}.`;
  }
  if (/^[+0-9\s().-]+$/.test(to)) return `Remove spaces, signs and brackets. ${FORM}.`;
  return `Use only the digits 0 to 9. ${FORM}.`;
}

function ordinal(place: number): string {
  const ending = ['th', 'st', 'nd', 'rd'][place % 100 > 10 && place % 100 < 14 ? 0 : place % 10] ?? 'th';
  return `${place}${ending}`;
}

/**
 * Whether this is the user id of a chat-app customer who shows no number (WhatsApp Cloud API, "Business-scoped user
 * IDs"): `US.13491208655302741918`; `US.ENT.…` is valid for a portfolio of businesses.
 */
export function isCustomerUserId(text: string): boolean {
  return USER_ID.test(text);
}

const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/** In place of a number that was erased (workers/maintenance/erase-number.ts). */
export const ERASED = 'erased';

export const CUSTOMER_FORM = /^([1-9][0-9]{7,14}|[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128})$/;

/** Undefined when `to` is a phone number or a user id. */
export function customerProblem(to: string): string | undefined {
  return isCustomerUserId(to) ? undefined : recipientProblem(to);
}
