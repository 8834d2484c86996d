/** What can be wrong with one field: `code` of the entries in `errors`. */
export const FIELD_CODES = {
  missing_field: 'A required field is missing.',
  unknown_field: 'The endpoint does not know this field.',
  wrong_type: 'The value has the wrong JSON type.',
  invalid_phone: 'The number is not 8 to 15 digits with the country code first.',
  country_code_missing: "The number lacks the country code of the account's own country.",
  no_route: 'No carrier delivers to this recipient.',
  unknown_number: "The number is not in its country's numbering plan. Only for accounts that check their recipients.",
  not_mobile: 'The number is not a mobile number. Only for accounts that send to mobile numbers only.',
  invalid_sender: 'The sender is neither 1 to 11 characters with at least one letter nor 3 to 15 digits.',
  sender_not_allowed: 'The sender is not registered and approved for this account and route.',
  invalid_value: 'The value is not one of the allowed values.',
  invalid_text: 'The text contains characters that cannot be sent.',
  invalid_time: 'The value is not an ISO 8601 date-time with a UTC offset.',
  template_mismatch: 'The text matches no approved template. The member `mismatch` says where it differs.',
  cta_not_registered: 'A link or a number of the text is not registered to the account.',
  template_not_found: 'The account has no such template, or not for this sender and route, or not in this language.',
  template_not_approved: 'The template is not approved yet, or no longer.',
  template_not_supported: 'The template has a part that cannot be sent.',
  duplicate: 'The value equals that of an earlier entry of the list. Each must be different.',
  url_not_allowed: 'The address is not https, is private, or cannot be resolved.',
  unsupported_media_type: 'The file name in the address does not have an extension of this type.',
  conflict: 'The field cannot be combined with another field of the request.',
  wrong_count: 'The list has too few or too many entries.',
  out_of_range: 'The value is below the lowest or above the highest allowed one.',
  too_short: 'The text is empty.',
  recipient_opted_out: 'The customer wants no messages of this sender.',
  country_not_allowed: "The recipient's country is none that the account may send to.",
  recipient_limit_reached: 'The recipient has got as many messages in this hour as the account allows.',
  traffic_held: 'Messages to numbers that begin like this one are held.',
  marketing_opted_out: 'The customer stopped marketing messages of the account.',
  number_needed: 'The template has a code, which goes to phone numbers only: give the number of the customer.',
  recipient_not_opted_in: 'The customer has not agreed to receive templates.',
  too_long: 'The text has too many characters, or needs too many segments.',
} as const;

export interface FieldProblem {
  /** The name that the caller used. Entries of lists are written as `to[3]`, members as `buttons[0].title`. */
  readonly field: string;
  readonly code: keyof typeof FIELD_CODES;
  readonly detail: string;
}
