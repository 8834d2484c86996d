/** Settings that a carrier's own pages ask for, each as one text (settings-form.ts). All others keep their defaults. */
interface Preset {
  readonly about: string;
  /** The page that says it. Carriers change their settings: trust what your carrier told you more than a preset. */
  readonly source: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Collected from pages of operators. */
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
  // "Send SMS message" (v3), its answer and its delivery reports.
  'infobip-http': {
    about:
      'over HTTPS: host is the base URL of your account, the password its API key; set the receipt URL in its own pages or take {callback}',
    source: 'https://www.infobip.com/docs/api/channels/sms/outbound-sms/send-sms-messages',
    settings: {
      ...{ kind: 'http', port: '443', tls: 'yes', systemId: 'App', receiptProfile: 'infobip', idForm: 'exact' },
      requestPath: '/sms/3/messages',
      requestHeaders: 'authorization={user} {password}',
      requestJson: JSON.stringify({
        messages: [
          {
            sender: '{sender}',
            destinations: [{ to: '{to}' }],
            content: { text: '{text}' },
            options: { regional: { indiaDlt: { contentTemplateId: '{template}', principalEntityId: '{entity}' } } },
            webhooks: { delivery: { url: '{callback}' } },
          },
        ],
      }),
      answerId: 'messages.0.messageId',
      answerCode: 'messages.0.status.name,messages.0.status.groupName,requestError.serviceException.messageId',
      answerClass:
        'PENDING=accepted,DELIVERED=accepted,REJECTED_NOT_ENOUGH_CREDITS=failover,REJECTED_NETWORK=failover,' +
        'REJECTED_ROUTE_NOT_AVAILABLE=failover,REJECTED_SENDER=failover,REJECTED=fail,UNDELIVERABLE=fail,EXPIRED=fail,TOO_MANY_REQUESTS=throttle',
      callbackList: 'results',
      callbackId: 'messageId',
      callbackWord: 'status.name,status.groupName',
      callbackError: 'error.id',
      callbackTo: 'to',
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
  // "Messages resource", "Webhooks security" and "Error and warning dictionary".
  'twilio-http': {
    about: 'over HTTPS: systemId is the Account SID, the password the Auth Token, which signs the callbacks too',
    source: 'https://www.twilio.com/docs/messaging/api/message-resource',
    settings: {
      ...{ kind: 'http', host: 'api.twilio.com', port: '443', tls: 'yes', idForm: 'exact' },
      ...{ destination: '1/1/plus', destinationNational: '1/1/plus' },
      ...{ sourceInternational: '1/1/plus', sourceNational: '1/1/plus' },
      requestPath: '/2010-04-01/Accounts/{user}/Messages.json',
      requestHeaders: 'authorization=Basic {basic}',
      requestForm: 'To={to},From={sender},Body={text},StatusCallback={callback}',
      answerId: 'sid',
      answerCode: 'code',
      answerClass:
        '20429=throttle,21611=throttle,14107=throttle,21606=failover,21612=failover,21408=failover,21610=fail,21211=fail,21614=fail',
      receiptWord:
        'queued=intermediate,sending=intermediate,sent=intermediate,accepted=intermediate,delivered=delivered,undelivered=failed,failed=failed,canceled=failed',
      callbackId: 'MessageSid',
      callbackWord: 'MessageStatus',
      callbackError: 'ErrorCode',
      callbackTo: 'To',
      callbackSignature: 'form-sha1',
      callbackHeader: 'x-twilio-signature',
    },
  },
  vonage: {
    about: 'new accounts are Latin-1; 30 a second, two binds at most',
    source: QUIRKS,
    settings: { alphabet: 'latin1', sourceName: '5/1', perSecond: '30' },
  },
};
