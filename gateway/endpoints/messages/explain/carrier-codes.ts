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

/**
 * Codes of India's DLT scrubbing, in receipts. The operators' lists, as published by BSNL and Exotel (support article
 * 3000120944).
 */
export const DLT_CODES: readonly ExplainedCodes[] = [
  explained(
    ['195', '670'],
    'DLT scrubbing failed: a required parameter is missing, or the platform had a fault.',
    'Check that the account has its PE id and the text a registered template, then send it again.',
  ),
  explained(
    codes(600, 605),
    'Your business (PE) is not registered or not active on the DLT platform.',
    'Renew the registration of your business on the DLT platform. Give your service provider the PE id.',
  ),
  explained(
    codes(610, 618),
    'The telemarketer of the route, or the chain from your business to it, is not registered on the DLT platform.',
    'Approve the chain (PE-TM binding) on the DLT platform. Your service provider knows the ids.',
  ),
  explained(
    codes(620, 626),
    'The header (sender) is not registered or not active on the DLT platform.',
    'Register or reactivate the header on the DLT platform, and let your service provider enter it.',
  ),
  explained(
    codes(630, 637),
    'The template is not registered on the DLT platform, or the text does not match it.',
    'Send the text exactly as it is registered, with values in its variables only.',
  ),
  explained(
    ['642', '700', '701'],
    'A link or a phone number in the text is not registered on the DLT platform.',
    'Register the link or the number with your header, or remove it from the text.',
  ),
  explained(
    ['650', '652'],
    'The recipient does not want messages of this kind (DND).',
    'Send only what the recipient agreed to, on the route for it.',
  ),
  explained(
    '651',
    'Promotional messages are not allowed at this hour.',
    'Send promotional messages between 10:00 and 21:00 Indian time.',
  ),
  explained(
    '660',
    'The recipient did not consent to messages of your business.',
    'Get the consent on the DLT platform first.',
  ),
  explained(
    '666',
    'The text differs from what was registered.',
    'Send the text exactly as it is registered, with values in its variables only.',
  ),
];

function codes(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
}
