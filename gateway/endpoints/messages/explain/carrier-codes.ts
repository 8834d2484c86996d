import { type ExplainedCodes, explained, NOT_YOURS, SEND_LATER } from './explanation.ts';

/** Answers of carriers to an SMS: the command_status of a submit_sm_resp (SMPP 3.4 §5.1.3), as `error_code` shows it. */
export const CARRIER_CODES: readonly ExplainedCodes[] = [
  explained(
    ['0x0B', '0x33', '0x34', '0x40', '0x50', '0x51'],
    'The carrier does not accept the number of the recipient.',
    'Check that the number exists and has its country code.',
  ),
  explained(
    ['0x0A', '0x48', '0x49'],
    'The carrier does not accept the sender.',
    'Use a sender that is registered with the operators, or ask your service provider which ones are.',
  ),
  explained(
    '0x22',
    'No carrier on the route reaches the network of the recipient.',
    'Ask your service provider for a route to this country or network.',
  ),
  explained(
    ['0x08', '0x14', '0x45', '0x64', '0x67', '0xFE', '0xFF'],
    'The carrier had a fault of its own, and several tries did not help.',
    `${SEND_LATER} ${NOT_YOURS}`,
  ),
  explained('0x58', 'The carrier took no more messages at this rate.', `${SEND_LATER} ${NOT_YOURS}`),
  explained('0x01', 'The carrier finds the text too long.', 'Shorten the text, then send it again.'),
  explained(
    ['0x65', '0x66'],
    'The network of the recipient refused the message for good.',
    'Check the number and the text. Links and words that look like spam are the usual reasons.',
  ),
  explained(
    ['0x61', '0x62'],
    'The carrier does not accept the validity of the message.',
    'Send it again with another `valid_until`, or without one.',
  ),
  explained(
    ['0xC0', '0xC1', '0xC2', '0xC3', '0xC4'],
    'The carrier does not accept a parameter that belongs to the message, for example its DLT ids.',
    'Check the ids of your template and business on the DLT platform. If they are right, tell your service provider.',
  ),
  explained(
    ['0x02', '0x03', '0x04', '0x05', '0x06', '0x07', '0x0C', '0x0D', '0x0E', '0x0F', '0x11', '0x13', '0x15'],
    'The carrier refused the form of our request, or our login.',
    NOT_YOURS,
  ),
  explained(
    ['0x42', '0x43', '0x44', '0x53', '0x54', '0x55', '0x63'],
    'The carrier refused the form of our request.',
    NOT_YOURS,
  ),
];
