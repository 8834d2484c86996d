import { type ExplainedCodes, explained, NOT_YOURS, SEND_LATER } from './explanation.ts';

const FIX_TEMPLATE = 'Compare the request with `GET /v2/chatapp/templates`, then send it again.';
const ASK_TO_FIX = 'Your service provider must repair the connection of your number. Then send the message again.';

/** The values of `error_code` of the chat-app channel: the errors of WhatsApp's Cloud API, under our names. */
export const CHATAPP_CODES: readonly ExplainedCodes[] = [
  explained(
    'session_closed',
    'More than 24 hours had passed since the customer last wrote.',
    'Send a template, or wait until the customer writes.',
  ),
  explained(
    'recipient_not_opted_in',
    'The customer was taken off the opt-in list while the template waited.',
    'Send templates only to customers who agreed to receive them.',
  ),
  explained(
    'number_removed',
    'The number that the message was to leave from was taken from the account while it waited.',
    'Send it from another number: `GET /v2/chatapp/numbers` lists those that the account has.',
  ),
  explained(
    'undeliverable',
    'The provider cannot deliver to this number.',
    'Check that the recipient uses the app, has accepted its terms and has a current version.',
  ),
  explained(
    'insufficient_credits',
    'A new conversation was needed, and the account could not pay for it.',
    'Buy credits, then send the message again.',
  ),
  explained(
    'marketing_limit_reached',
    'The provider lets this customer get no more marketing messages for now.',
    'Wait at least a day before you try again. Trying at once does not help.',
  ),
  explained(
    'marketing_opted_out',
    'The customer stopped marketing messages of your business.',
    'Send this customer no marketing templates any more.',
  ),
  explained(
    'marketing_not_enabled',
    'Marketing messages are not enabled for your number.',
    'Ask your service provider to enable them, or use a template of another category.',
  ),
  explained(
    'template_not_ready',
    'The template was new, and the provider could not send it yet. Later tries did not help.',
    SEND_LATER,
  ),
  explained(
    'customer_in_experiment',
    'The provider holds marketing messages back from this customer for an experiment.',
    'Nothing helps but another channel: send an SMS.',
  ),
  explained(
    'customer_rate_limited',
    'Too many messages went to this customer in a short time.',
    'Wait some minutes. Put several messages into one.',
  ),
  explained(
    'spam_rate_limited',
    'Customers blocked or reported your messages, so the provider limits your number.',
    'Send less, and only to customers who asked for it. Look at the quality of your templates.',
  ),
  explained(
    'category_limit_reached',
    'The provider found templates of yours in a wrong category, so it lets your account send few for some time.',
    'Correct the categories of your templates. The limit ends by itself.',
  ),
  explained(
    'provider_throttled',
    'Your number sent faster than the provider allows.',
    `${SEND_LATER} Spread large sends over more time.`,
  ),
  explained('provider_unavailable', 'The provider had a fault, and several tries did not help.', SEND_LATER),
  explained(
    'media_unavailable',
    'The provider could not fetch the file.',
    'Check that the address opens without a sign-in, is https, and gives the type and size that are allowed.',
  ),
  explained(
    'customer_blocked',
    'Your business has blocked this customer at the provider.',
    'Unblock the customer at the provider, then send the message again.',
  ),
  explained(
    'country_not_allowed',
    'The provider lets your business send no messages to the country of this number.',
    'Look up at the provider for which countries and trades it allows messages.',
  ),
  explained(
    'number_needed',
    'The provider sends such messages to phone numbers only: templates with a code, for example.',
    'Ask the customer for the number, then send the message to it.',
  ),
  explained('recipient_is_sender', 'The recipient is your own number.', 'Give the number of the customer.'),
  explained(
    'unsupported_message_type',
    'The provider does not take messages of this type.',
    'Send a text, or a template.',
  ),
  explained(
    ['invalid_parameter', 'template_param_count_mismatch', 'template_param_mismatch'],
    'A value of the request does not fit the template.',
    FIX_TEMPLATE,
  ),
  explained('template_not_found', 'The provider has no such template in this language.', FIX_TEMPLATE),
  explained(
    'template_text_too_long',
    'With its values the template is longer than the provider allows.',
    'Shorten the values.',
  ),
  explained(
    'template_policy_violated',
    'The provider finds that the template breaks its rules.',
    'Look up the reason beside the template, then request a corrected one.',
  ),
  explained(
    'template_paused',
    'The provider paused the template because customers disliked it.',
    'Use another template, or wait: a pause takes 3 or 6 hours. Then improve the text.',
  ),
  explained('template_disabled', 'The provider disabled the template for good.', 'Request a new template.'),
  explained(
    'template_flow_unavailable',
    'The flow that the template opens is blocked or slowed down at the provider.',
    'Correct the flow at the provider, or use another template.',
  ),
  explained(
    [
      'provider_token_refused',
      'provider_permission_missing',
      'provider_access_denied',
      'provider_certificate_problem',
      'provider_number_not_registered',
      'provider_number_deleted',
      'provider_address_wrong',
    ],
    'The provider does not accept the login of your number.',
    ASK_TO_FIX,
  ),
  explained(
    ['provider_account_locked', 'provider_policy_block'],
    'The provider locked your business account.',
    'Look into your account at the provider, which gives the reason and takes appeals.',
  ),
  explained(
    'provider_name_not_approved',
    'The provider has not approved the display name of your number, and lets it send nothing until then.',
    'Request the approval of the display name at the provider.',
  ),
  explained(
    'provider_payment_problem',
    'The provider could not charge your business account.',
    'Correct the means of payment at the provider.',
  ),
  explained('provider_refused', 'The provider refused the message without a reason that we know.', NOT_YOURS),
];
