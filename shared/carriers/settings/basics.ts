import { ascii, matching, oneOf, setting, someOf, whole, yesNo } from './setting.ts';

const WEEK_MS = 604_800_000;
const IS_MS = 'in milliseconds';

export const REQUIRED = {
  /** A name or an IPv4 address has no colon, which would begin a port; an IPv6 address has at least two. */
  host: matching(
    'HARKARA_HOST',
    'a host name or an address, without a port',
    /^([^\s/:]{1,253}|[\da-f]*:[\da-f]*:[\da-f:.]*(%\w+)?)$/i,
  ),
  port: whole('HARKARA_PORT', 1, 65_535),
  /** Over SMPP at most 15 characters (carrier-form.ts). */
  systemId: ascii('ID', 1, 64),
};

/** These are fields of the carrier's document itself: they are older than the groups. */
export const BASICS = {
  kind: setting(
    oneOf(['smpp', 'http']),
    'smpp',
    'how it is reached: binds of SMPP, or a request over HTTPS for each message',
  ),
  tls: setting(yesNo, false, 'connect with TLS'),
  systemType: setting(ascii('TYPE', 0, 12), '', 'system_type of the bind'),
  bindKind: setting(
    oneOf(['transceiver', 'pair']),
    'transceiver',
    'one session for both ways, or transmitter and receiver',
  ),
  binds: setting(whole('N', 1, 50), 1, 'parallel binds of that kind'),
  windowSize: setting(whole('N', 1, 10_000), 50, 'unanswered submit_sm (requests) per bind'),
  perSecond: setting(
    whole('N', 0, 100_000, 'no limit'),
    0,
    'segments (requests) a second over all binds; 0: as fast as the carrier lets us',
  ),
  paths: setting(someOf('PATHS', ['transactional', 'promotional']), ['transactional', 'promotional'], 'what it serves'),
  enquireLinkMs: setting(whole('MS', 100, 600_000), 30_000, `silence before an enquire_link, ${IS_MS}`),
  responseTimeoutMs: setting(whole('MS', 100, 600_000), 30_000, `how long it may take to answer, ${IS_MS}`),
  idForm: setting(
    oneOf(['learn', 'exact']),
    'learn',
    'whether ids in receipts may be in another notation (base, case)',
  ),
  receiptOffsetMinutes: setting(whole('MIN', -840, 840), 0, 'time zone of dates in receipts, east of UTC'),
  unknownPolicy: setting(
    oneOf(['assume_sent', 'resend']),
    'assume_sent',
    'for a submit without an answer: count it as sent (it is lost if it never left), or send it again (it may arrive twice)',
  ),
  unknownWaitMs: setting(
    whole('MS', 0, WEEK_MS),
    3_600_000,
    `how long the unknown policy waits for an answer, ${IS_MS}`,
  ),
};
