/**
 * The settings that a carrier's own pages ask for, each as one text (settings-form.ts). Settings that the pages do not mention keep
 * their defaults.
 */
export interface Preset {
  readonly about: string;
  /** The page that says it. Carriers change their settings, so what your carrier told you is more reliable than a preset. */
  readonly source: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Where each claim was found: pages of operators. */
const QUIRKS = 'https://github.com/larvit/larvitsmpp/blob/master/interop-tests/research/operator-quirks.md';

export const PRESETS: Readonly<Record<string, Preset>> = {
  clickatell: { about: 'long texts by SAR', source: QUIRKS, settings: { longText: 'sar' } },
  infobip: {
    about: 'senders by kind; drops links that are idle for 30 s; four binds at most',
    source: 'https://www.infobip.com/glossary/ton-npi-settings',
    settings: {
      sourceName: '5/0',
      sourceInternational: '1/1',
      sourceShort: '3/0',
      enquireLinkMs: '20000',
    },
  },
  kaleyra: {
    about: 'system_type smpp, store and forward; no TLVs below 3.4',
    source: QUIRKS,
    settings: { systemType: 'smpp', messagingMode: '3', enquireLinkMs: '60000' },
  },
  link: {
    about: 'transmitter and receiver, window 20, 10 a second, 30 s behind an unbind, answers within 10 minutes',
    source: QUIRKS,
    settings: {
      bindKind: 'pair',
      windowSize: '20',
      perSecond: '10',
      reconnectMs: '30000',
      responseTimeoutMs: '600000',
      enquireLinkMs: '60000',
      sourceShort: '2/0',
    },
  },
  openmarket: {
    about: 'Latin-1 unless told otherwise',
    source: 'https://www.openmarket.com/docs/Content/apis/v3smpp/overview.htm',
    settings: { alphabet: 'latin1' },
  },
  'route-mobile': {
    about: 'store and forward, UDH',
    source: QUIRKS,
    settings: { messagingMode: '3', enquireLinkMs: '60000' },
  },
  sinch: {
    about: 'short codes that handsets can answer, window 10, two binds at most',
    source: 'https://developers.sinch.com/docs/sms/smpp/send-message',
    settings: {
      sourceName: '5/0',
      sourceShort: '0/1',
      sourceInternational: '1/1',
      sourceNational: '2/1',
      windowSize: '10',
      perSecond: '10',
    },
  },
  telia: {
    about: 'long texts in message_payload, window 10',
    source: QUIRKS,
    settings: { longText: 'payload', windowSize: '10' },
  },
  telnyx: {
    about: 'TON and NPI 1/1 in the bind too',
    source: QUIRKS,
    settings: { bindAddress: '1/1', destination: '1/1' },
  },
  vonage: {
    about: 'new accounts are Latin-1; 30 a second, two binds at most',
    source: QUIRKS,
    settings: { alphabet: 'latin1', sourceName: '5/1', perSecond: '30' },
  },
};
