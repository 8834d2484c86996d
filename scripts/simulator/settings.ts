import { parseArgs } from 'node:util';
import type { HttpCarrierOptions } from './http-carrier.ts';
import { PROVIDER_DEFAULTS, type ProviderOptions } from './provider/options.ts';
import { DEFAULT_ALPHABETS } from './smpp/text.ts';
import { SMSC_DEFAULTS, type SmscOptions } from './smsc/options.ts';
import { ID_FORMS, RECEIPT_DIALECTS, RECEIPT_FORMS } from './smsc/receipts.ts';

/** A flag overrides its environment variable, that a line of `.env`, and that the default. */
export interface Settings {
  readonly smsc: Partial<SmscOptions>;
  readonly provider: Partial<ProviderOptions>;
  readonly httpCarrier: HttpCarrierOptions;
  readonly webhookPort: number;
  readonly mailPort: number;
  readonly webhookSecrets: readonly string[];
  readonly quiet: boolean;
}

export type Command =
  | { readonly kind: 'run'; readonly settings: Settings }
  | { readonly kind: 'help' | 'wrong'; readonly text: string };

interface Setting {
  readonly flag: string;
  readonly value: string;
  readonly standard: string;
  readonly meaning: string;
}

const SETTINGS: readonly Setting[] = [
  { flag: 'smsc-port', value: 'PORT', standard: '2775', meaning: 'SMPP port on 127.0.0.1, 0 for any' },
  { flag: 'receipt-delay', value: 'MS', standard: '500', meaning: 'from acceptance to receipt' },
  { flag: 'response-delay', value: 'MS', standard: '0', meaning: 'from submit_sm to its answer' },
  { flag: 'rate', value: 'N', standard: '0', meaning: 'submits a second above which 0x58 is answered, 0 for no limit' },
  { flag: 'id-form', value: 'FORM', standard: 'hex', meaning: `message ids: ${ID_FORMS.join(', ')} (answer-receipt)` },
  {
    flag: 'alphabet',
    value: 'ALPHABET',
    standard: 'gsm7',
    meaning: `alphabet of data_coding 0: ${DEFAULT_ALPHABETS.join(', ')}`,
  },
  { flag: 'receipt-form', value: 'FORM', standard: 'both', meaning: `receipts: ${RECEIPT_FORMS.join(', ')}` },
  { flag: 'receipt-dialect', value: 'NAME', standard: 'appendix-b', meaning: `whose: ${RECEIPT_DIALECTS.join(', ')}` },
  { flag: 'utc-offset', value: 'MINUTES', standard: '0', meaning: 'time zone of dates in receipts' },
  { flag: 'system-id', value: 'ID', standard: '', meaning: 'the only system_id let in; none for all' },
  { flag: 'password', value: 'PASSWORD', standard: '', meaning: 'the only password let in; none for all' },
  { flag: 'deliver-window', value: 'N', standard: '100', meaning: 'unanswered deliver_sm per session' },
  { flag: 'deliver-timeout', value: 'MS', standard: '10000', meaning: 'until an unanswered deliver_sm is sent again' },
  { flag: 'retry-delay', value: 'MS', standard: '1000', meaning: 'from a refused deliver_sm to its next try' },
  { flag: 'enquire-link', value: 'MS', standard: '0', meaning: 'how often the SMSC sends enquire_link, 0 for never' },
  { flag: 'log', value: 'FILE', standard: '', meaning: 'append every accepted message to FILE as JSON lines' },
  { flag: 'chatapp-port', value: 'PORT', standard: '4020', meaning: 'HTTP port of the chat-app provider on 127.0.0.1' },
  { flag: 'chatapp-token', value: 'TOKEN', standard: PROVIDER_DEFAULTS.token, meaning: 'the only access token let in' },
  {
    flag: 'chatapp-delay',
    value: 'MS',
    standard: '300',
    meaning: 'from one status of a chat-app message to the next',
  },
  {
    flag: 'chatapp-review',
    value: 'MS',
    standard: '3000',
    meaning: 'how long a review of a chat-app template takes',
  },
  {
    flag: 'http-carrier-port',
    value: 'PORT',
    standard: '4030',
    meaning: 'HTTP port of the carrier without SMPP on 127.0.0.1, with the receipt delay above',
  },
  { flag: 'webhook-port', value: 'PORT', standard: '4010', meaning: 'HTTP port of the webhook receiver on 127.0.0.1' },
  { flag: 'mail-port', value: 'PORT', standard: '4025', meaning: 'SMTP port of the mail server on 127.0.0.1' },
  { flag: 'webhook-secret', value: 'WHSEC', standard: '', meaning: 'secret(s) to check signatures with, by commas' },
  { flag: 'quiet', value: '0|1', standard: '0', meaning: 'print nothing about messages' },
];

/** `wrong` has a sentence that says what is wrong. */
export function readCommand(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Command {
  const options = Object.fromEntries(SETTINGS.map(({ flag }) => [flag, { type: 'string' as const }]));
  try {
    const parsed = parseArgs({ args: bareQuiet(argv), options: { ...options, help: { type: 'boolean' } } });
    const values: Readonly<Record<string, unknown>> = parsed.values;
    if (values.help === true) return { kind: 'help', text: help() };
    const given = new Map<string, string>();
    for (const { flag, standard } of SETTINGS) {
      const value = values[flag];
      given.set(flag, typeof value === 'string' ? value : environment[variable(flag)] || standard);
    }
    return { kind: 'run', settings: settings((flag) => given.get(flag) ?? '') };
  } catch (error) {
    // parseArgs and the readers below throw errors with texts for people.
    return { kind: 'wrong', text: error instanceof Error ? error.message : String(error) };
  }
}

function settings(text: (flag: string) => string): Settings {
  const number = (flag: string, least = 0, most = Number.MAX_SAFE_INTEGER): number => {
    const value = Number(text(flag));
    if (text(flag).trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new RangeError(`--${flag} must be a whole number from ${least} to ${most}, not "${text(flag)}"`);
  };
  const oneOf = <T extends string>(flag: string, forms: readonly T[]): T => {
    const form = forms.find((each) => each === text(flag));
    if (form !== undefined) return form;
    throw new RangeError(`--${flag} must be one of ${forms.join(', ')}, not "${text(flag)}"`);
  };

  return {
    smsc: {
      port: number('smsc-port', 0, 65_535),
      receiptDelayMs: number('receipt-delay'),
      responseDelayMs: number('response-delay'),
      ratePerSecond: number('rate') || SMSC_DEFAULTS.ratePerSecond,
      idForm: oneOf('id-form', ID_FORMS),
      defaultAlphabet: oneOf('alphabet', DEFAULT_ALPHABETS),
      receiptForm: oneOf('receipt-form', RECEIPT_FORMS),
      receiptDialect: oneOf('receipt-dialect', RECEIPT_DIALECTS),
      utcOffsetMinutes: number('utc-offset', -1_440, 1_440),
      systemId: text('system-id'),
      password: text('password'),
      deliverWindow: number('deliver-window', 1),
      deliverTimeoutMs: number('deliver-timeout', 1),
      retryDelayMs: number('retry-delay'),
      enquireLinkMs: number('enquire-link'),
      log: text('log'),
    },
    provider: {
      port: number('chatapp-port', 0, 65_535),
      token: text('chatapp-token'),
      statusDelayMs: number('chatapp-delay'),
      reviewMs: number('chatapp-review'),
    },
    httpCarrier: { port: number('http-carrier-port', 0, 65_535), receiptDelayMs: number('receipt-delay') },
    webhookPort: number('webhook-port', 0, 65_535),
    mailPort: number('mail-port', 0, 65_535),
    webhookSecrets: text('webhook-secret')
      .split(',')
      .filter((secret) => secret !== ''),
    quiet: number('quiet', 0, 1) === 1,
  };
}

/** Allows `--quiet` without a value. */
function bareQuiet(argv: readonly string[]): string[] {
  return argv.map((word) => (word === '--quiet' ? '--quiet=1' : word));
}

/** `--smsc-port` has `HARKARA_SIMULATOR_SMSC_PORT`. */
function variable(flag: string): string {
  return `HARKARA_SIMULATOR_${flag.toUpperCase().replaceAll('-', '_')}`;
}

function help(): string {
  const lines = SETTINGS.map(({ flag, value, standard, meaning }) => {
    return `  ${`--${flag} ${value}`.padEnd(28)}${meaning}${standard === '' ? '' : ` (${standard})`}`;
  });
  return [
    'A carrier (SMSC), a carrier over HTTP, a chat-app provider, a webhook receiver and a mail server to try the gateway against; all on 127.0.0.1 only.',
    '',
    ...lines,
    '',
    'Each can be an environment variable instead, or a line of .env: --smsc-port is HARKARA_SIMULATOR_SMSC_PORT.',
    'The last digits of a destination choose what happens to a message: see docs/magic-numbers.md.',
  ].join('\n');
}
