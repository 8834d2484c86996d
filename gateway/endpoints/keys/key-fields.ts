import { ALLOWED_ADDRESSES_MAX, canonicalSubnet } from '../../../shared/people/keys/allowed-addresses.ts';
import { ACCOUNT_KEY_SCOPES } from '../../../shared/people/keys/key.ts';
import { choice, Fault, type Kind, list, number, string } from '../../http/fields/field.ts';

const NAME_MAX = 100;

/** As `ops key create --name` takes it. */
export const name: Kind<string> = string(
  { description: 'A name for people, to tell keys apart.', minLength: 1, maxLength: NAME_MAX },
  (text) => {
    if (text.trim() === '') return new Fault('too_short', 'It must have at least one character that is not a space.');
    if (text.length > NAME_MAX) return new Fault('too_long', `It may have at most ${NAME_MAX} characters.`);
    // Control characters could control a terminal that shows the text.
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) return new Fault('invalid_text', 'It must not have control characters.');
    return text.trim();
  },
);

export const scopes = list(choice(ACCOUNT_KEY_SCOPES), {
  description: 'What the key may do. Only scopes that the caller has itself.',
  minItems: 1,
});

/** The account may have less than this maximum: `checkRate` (authority.ts) refuses a rate above that. */
const RATE = {
  description:
    'Requests a minute that the key may make. When a key makes it, these count for that one too: both, and all that it makes, share its rate.',
  minimum: 1,
  maximum: 1_000_000_000,
};

export const perMinute: Kind<number> = {
  schema: { ...RATE, type: 'integer' },
  read(value, field, reading) {
    if (value === undefined || Number.isInteger(value) || typeof value !== 'number') {
      return number(RATE).read(value, field, reading);
    }
    return reading.problems.add(field, 'wrong_type', 'It must be a whole number.');
  },
};

export const allowedIps = list(
  string(
    { description: 'An address or a subnet, such as 203.0.113.7, 198.51.100.0/24 or 2001:db8::/48.', maxLength: 50 },
    (text) =>
      canonicalSubnet(text) ??
      new Fault('invalid_value', 'It must be an address or a subnet, such as 203.0.113.7 or 198.51.100.0/24.'),
  ),
  {
    description: 'The only addresses that the key may be used from. An empty list allows all.',
    minItems: 0,
    maxItems: ALLOWED_ADDRESSES_MAX,
  },
);

/** What becomes of the keys that a key or a user made. */
export const KEY_FATES = ['keep', 'revoke'] as const;
export type KeyFate = (typeof KEY_FATES)[number];
