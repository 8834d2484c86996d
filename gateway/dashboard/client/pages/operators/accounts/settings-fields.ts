/** The choices of an account's settings, with their words. */
export const SENDER_RULES = [
  ['any', 'Every sender of valid form'],
  ['registered', 'Only registered and approved ones'],
] as const;
export const SWITCH = [
  ['off', 'Off'],
  ['on', 'On'],
] as const;
export const NUMBER_CHECKS = [
  ['off', 'None'],
  ['on', "Numbers of their country's plan"],
  ['mobile', 'Mobile numbers only'],
] as const;
export const CTA_CHECKS = [
  ['off', 'Not looked at'],
  ['warn', 'Warned of'],
  ['refuse', 'Refused'],
] as const;
export const LINE_BREAKS = [
  ['any', 'CR LF and LF are one line break'],
  ['exact', 'CR LF and LF differ, as a few operators want it'],
] as const;
export const TEXTS = [
  ['shown', 'Its users and keys; viewers and operators without codes'],
  ['own', 'Its users and keys, not operators'],
  ['hidden', 'Nobody, once they are sent'],
] as const;
export const LOGS = [
  ['unusual', 'Unusual answers and receipts'],
  ['all', 'All answers and receipts'],
] as const;
