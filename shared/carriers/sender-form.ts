/**
 * Letters, digits, and the signs that are the same octet in ASCII (SMPP 3.4 §5.2.8 source_addr) and in the GSM default alphabet
 * (TS 23.038 §6.2.1), so that no carrier shows another sender. `_` is the one exception, because it is in use. `@` is excluded:
 * in the GSM alphabet it is octet 0, which ends a C-octet string. No space at either end: it would get lost.
 */
const ALPHANUMERIC = /^(?! )[A-Za-z0-9 !"#%&'()*+,./:;<=>?_-]{1,11}(?<! )$/;
const NUMERIC = /^[0-9]{3,15}$/;

/**
 * Whether a sender id can be sent at all: 1 to 11 characters with a letter among them, or 3 to 15 digits. Spec gap: format checks
 * are not shown; see docs/specification/decisions.md, Requests.
 */
export function isSenderForm(sender: string): boolean {
  return NUMERIC.test(sender) || (ALPHANUMERIC.test(sender) && /[A-Za-z]/.test(sender));
}
