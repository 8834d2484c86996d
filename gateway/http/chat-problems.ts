import { fault, type ProblemRule } from './problem-rule.ts';

/** What requests about the chat-app channel's provider, and about customers' files, may be told. */
export const CHAT_PROBLEMS = {
  marketing_opted_out: fault(
    '4120',
    403,
    'Customer stopped marketing',
    'Send no marketing templates to this customer until the customer resumes them in the chat app; other templates and answers are not concerned. `GET /v2/account/marketing-stops` lists such customers.',
  ),
  message_without_file: fault(
    '4048',
    404,
    'Message without a file',
    'Only messages from customers of the types image, video, audio, voice, document and sticker have a file.',
  ),
  file_gone: fault(
    '4110',
    410,
    'File gone',
    'The provider keeps files for some days and has this one no more. Ask the customer to send it again.',
  ),
  file_unusable: fault(
    '5020',
    502,
    'File not usable',
    'The provider has the file, but it cannot be handed on; `detail` says why. Report the `request_id` to your service provider.',
  ),
  test_key_needed: fault(
    '4122',
    403,
    'Test key needed',
    'Use a test key, `hk_test_…`: real customers write to your number.',
  ),
  not_marked_read: fault(
    '5021',
    502,
    'Not marked as read',
    'The chat-app provider refused it; `detail` has its words. It takes messages of customers of the last 30 days.',
  ),
  chatapp_stopped: fault(
    '5032',
    503,
    'Chat-app channel stopped',
    'Nothing was done. The chat-app provider refuses messages of this account. Ask your service provider to correct its settings.',
    true,
  ),
  provider_unavailable: fault(
    '5038',
    503,
    'Provider unavailable',
    'The chat-app provider did not answer in time, or has an error. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
} as const satisfies Record<string, ProblemRule>;
