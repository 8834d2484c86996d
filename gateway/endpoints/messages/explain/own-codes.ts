import { OVERTAKEN } from '../../../../shared/messages/document/fallback.ts';
import { type ExplainedCodes, explained, NOT_YOURS, SEND_LATER } from './explanation.ts';

/** The values of `error_code` that Harkara itself gives to an SMS. The chat-app channel has some of them too. */
export const OWN_CODES: readonly ExplainedCodes[] = [
  explained(
    'cancelled',
    'The message had not left when it was cancelled, or when its batch was stopped.',
    'You need do nothing: it was refunded.',
  ),
  explained(
    'validity_expired',
    'The message could not be handed to a carrier before its `valid_until`. It was refunded.',
    'Send it again. Give it a later `valid_until`, and check that your account is not suspended and your template not paused. Promotional messages under DLT leave only in the hours that are allowed.',
  ),
  explained(
    OVERTAKEN,
    'The message had not left when the SMS in its place was due. It does not leave any more.',
    'See what became of the SMS. If that happens often, give messages more time (`fallback.after_seconds`), or ask your service provider for the state of the channel.',
  ),
  explained(
    'unconfirmed',
    'The message was handed over, but nobody answered for it. It may have arrived, so it was not refunded.',
    'Ask the recipient before you send it again: it could arrive twice.',
  ),
  explained(
    'partial',
    'The carrier took some segments of a long message and refused others.',
    'Send the text again, in one segment if possible. The recipient may see a part of the first one.',
  ),
  explained(
    'recipient_opted_out',
    'The recipient wrote STOP while the message waited.',
    'Do not send to this recipient until they write START.',
  ),
  explained(
    'sender_not_registered',
    'The sender ceased to be approved for this route while the message waited.',
    'Ask your service provider for the state of the sender, then send the message again.',
  ),
  explained(
    'template_not_approved',
    'The template ceased to be approved while the message waited.',
    'Look up the reason beside the template, then send with an approved one.',
  ),
  explained(
    'entity_id_missing',
    'Your account had no PE id (principal entity id), which operators demand in India.',
    'Ask your service provider to enter the PE id of your business, then send the message again.',
  ),
  explained('account_suspended', 'The account is suspended.', 'Ask your service provider for the reason.'),
  explained(
    'not_sent',
    'The connection to the carrier was lost before the message was written.',
    `${SEND_LATER} ${NOT_YOURS}`,
  ),
  explained(
    'not_encodable',
    'The text cannot be written in an alphabet that the carrier takes.',
    'Remove unusual characters from the text, then send it again.',
  ),
  explained(
    'sender_unfit',
    'The sender has characters that the carrier does not take.',
    'Use a sender of Latin letters and digits, or ask your service provider for another route.',
  ),
  explained(
    'recipient_unfit',
    'The recipient is not a number that a carrier can dial.',
    'Give the number with its country code, digits only.',
  ),
  explained('too_long', 'The text has more segments than an SMS can have.', 'Shorten the text.'),
];
