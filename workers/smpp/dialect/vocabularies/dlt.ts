/**
 * The codes of India's DLT scrubbing in `err:`, by their families. They are the same at all operators. Source: the operators'
 * lists of DLT error codes, as published by BSNL and Exotel (support article 3000120944).
 */
export const DLT_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^195$/, 'DLT: a required parameter is missing'],
  [/^60[0-5]$/, 'DLT: entity not registered or not active'],
  [/^61[0-3]$/, 'DLT: telemarketer not registered or not active'],
  [/^61[4-8]$/, 'DLT: telemarketer chain (PE-TM) not registered'],
  [/^62[0-6]$/, 'DLT: header not registered or not active'],
  [/^633$/, 'DLT: the text does not match the template'],
  [/^63[0-7]$/, 'DLT: template not registered or not matched'],
  [/^642$|^70[01]$/, 'DLT: a link or number in the text is not registered'],
  [/^65[02]$/, "DLT: blocked by the recipient's preferences"],
  [/^651$/, 'DLT: promotional messages are not allowed at this hour'],
  [/^660$/, 'DLT: no consent of the recipient'],
  [/^666$/, 'DLT: the text differs from what was registered'],
  [/^670$/, 'DLT: scrubbing failed'],
];
