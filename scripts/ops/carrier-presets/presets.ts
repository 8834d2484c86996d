/**
 * The settings that a carrier's own pages ask for, as options of `ops carrier`. Settings that the pages do not mention keep their
 * defaults.
 */
export interface Preset {
  readonly about: string;
  /** The page that says it. Carriers change their settings, so what your carrier told you is more reliable than a preset. */
  readonly source: string;
  readonly options: Readonly<Record<string, string>>;
}

/** Where each claim was found: pages of operators. */
const QUIRKS = 'https://github.com/larvit/larvitsmpp/blob/master/interop-tests/research/operator-quirks.md';

export const PRESETS: Readonly<Record<string, Preset>> = {
  clickatell: { about: 'long texts by SAR', source: QUIRKS, options: { 'long-text': 'sar' } },
  infobip: {
    about: 'senders by kind; drops links that are idle for 30 s; four binds at most',
    source: 'https://www.infobip.com/glossary/ton-npi-settings',
    options: {
      'source-name': '5/0',
      'source-international': '1/1',
      'source-short': '3/0',
      'enquire-link-ms': '20000',
    },
  },
  kaleyra: {
    about: 'system_type smpp, store and forward; no TLVs below 3.4',
    source: QUIRKS,
    options: { 'system-type': 'smpp', 'messaging-mode': '3', 'enquire-link-ms': '60000' },
  },
  link: {
    about: 'transmitter and receiver, window 20, 10 a second, 30 s behind an unbind, answers within 10 minutes',
    source: QUIRKS,
    options: {
      'bind-kind': 'pair',
      'window-size': '20',
      'per-second': '10',
      'reconnect-ms': '30000',
      'response-timeout-ms': '600000',
      'enquire-link-ms': '60000',
      'source-short': '2/0',
    },
  },
  openmarket: {
    about: 'Latin-1 unless told otherwise',
    source: 'https://www.openmarket.com/docs/Content/apis/v3smpp/overview.htm',
    options: { alphabet: 'latin1' },
  },
  'route-mobile': {
    about: 'store and forward, UDH',
    source: QUIRKS,
    options: { 'messaging-mode': '3', 'enquire-link-ms': '60000' },
  },
  sinch: {
    about: 'short codes that handsets can answer, window 10, two binds at most',
    source: 'https://developers.sinch.com/docs/sms/smpp/send-message',
    options: {
      'source-name': '5/0',
      'source-short': '0/1',
      'source-international': '1/1',
      'source-national': '2/1',
      'window-size': '10',
      'per-second': '10',
    },
  },
  telia: {
    about: 'long texts in message_payload, window 10',
    source: QUIRKS,
    options: { 'long-text': 'payload', 'window-size': '10' },
  },
  telnyx: {
    about: 'TON and NPI 1/1 in the bind too',
    source: QUIRKS,
    options: { 'bind-address': '1/1', destination: '1/1' },
  },
  vonage: {
    about: 'new accounts are Latin-1; 30 a second, two binds at most',
    source: QUIRKS,
    options: { alphabet: 'latin1', 'source-name': '5/1', 'per-second': '30' },
  },
};
