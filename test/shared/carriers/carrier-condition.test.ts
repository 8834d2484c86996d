import {
  type BindReport,
  type BindReportDocument,
  type BindTrouble,
  endedBind,
  refusedBind,
} from '../../../shared/carriers/bind-report.ts';
import { carrierCondition } from '../../../shared/carriers/carrier-condition.ts';

const T = new Date('2026-11-21T10:00:00Z');
const EPOCH = 3;
const carrier = (binds: number, status: 'active' | 'paused' = 'active') =>
  ({ status, binds, bindKind: 'transceiver' }) as const;
const bind = (state: BindReport['state'], trouble?: BindTrouble): Omit<BindReport, 'index'> => ({
  state,
  since: T,
  ...(trouble === undefined ? {} : { trouble: { ...trouble, since: T } }),
});
const report = (...binds: readonly Omit<BindReport, 'index'>[]): BindReportDocument => ({
  _id: 'c',
  epoch: EPOCH,
  at: T,
  flow: {},
  binds: binds.map((one, index) => ({ index, ...one })),
});

describe('how a carrier stands', () => {
  const BOUND = bind('bound');
  const TABLE: readonly (readonly [string, Readonly<Parameters<typeof carrierCondition>>, string, RegExp])[] = [
    ['paused', [carrier(1, 'paused'), EPOCH, report(BOUND)], 'paused', /^paused$/],
    ['nobody holds it', [carrier(1), undefined, report(BOUND)], 'unheld', /^held by no process/],
    ['just taken', [carrier(1), EPOCH, undefined], 'binding', /^binding$/],
    ['what an earlier holder said is history', [carrier(1), EPOCH + 1, report(BOUND)], 'binding', /^binding$/],
    ['bound', [carrier(1), EPOCH, report(BOUND)], 'bound', /^bound \(1 of 1\) since 2026-11-21T10:00:00.000Z$/],
    [
      'one of two, the other is refused',
      [carrier(2), EPOCH, report(BOUND, bind('backoff', refusedBind(0x05)))],
      'partly_bound',
      /^bound \(1 of 2\); bind refused: an earlier session is still bound \(0x05\) since/,
    ],
    [
      'a wrong password',
      [carrier(1), EPOCH, report(bind('connecting', refusedBind(0x0e)))],
      'refused',
      /^bind refused: wrong password \(0x0E\) since 2026-11-21T10:00:00.000Z$/,
    ],
    [
      'what a person must mend comes first',
      [carrier(2), EPOCH, report(bind('backoff', endedBind('lost', 'ECONNRESET')), bind('backoff', refusedBind(0x0f)))],
      'refused',
      /unknown system id \(0x0F\)/,
    ],
    [
      'a kind of bind that it does not know',
      [carrier(1), EPOCH, report(bind('backoff', refusedBind(0x03)))],
      'refused',
      /^bind refused: it does not know this kind of bind \(--bind-kind\) \(0x03\)/,
    ],
    [
      "a refusal of the carrier's own",
      [carrier(1), EPOCH, report(bind('backoff', refusedBind(0x410)))],
      'refused',
      /\(0x0410\)/,
    ],
    ...(
      [
        ['unreachable', 'ECONNREFUSED', /^unreachable: nothing listens at its address \(ECONNREFUSED\)/],
        ['unreachable', 'connect_timeout', /^unreachable: no answer from its address/],
        ['unreachable', 'tls_timeout', /^unreachable: it accepts the connection, but does not answer TLS/],
        ['unanswered', 'bad_frame', /^not bound: what it sends is not SMPP \(bad_frame\)/],
        ['lost', 'bad_frame', /^connection lost: what it sends is not SMPP/],
        ['unreachable', 'ENOTFOUND', /^unreachable: its host name is not known/],
        ['unreachable', 'DEPTH_ZERO_SELF_SIGNED_CERT', /^unreachable: TLS failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)/],
        ['unreachable', 'ERR_SSL_WRONG_VERSION_NUMBER', /^unreachable: TLS failed/],
        ['unreachable', 'EWHATEVER', /^unreachable: no connection \(EWHATEVER\)/],
        ['unanswered', 'bind_unanswered', /^not bound: the bind was not answered/],
        ['unanswered', 'closed_by_peer', /^not bound: the carrier closed the connection/],
        ['lost', 'timeout', /^connection lost: no answer from its address \(timeout\)/],
        ['lost', 'enquire_link_unanswered', /^connection lost: the carrier fell silent/],
      ] as const
    ).map(
      ([kind, code, words]) =>
        [`${kind}, ${code}`, [carrier(1), EPOCH, report(bind('backoff', endedBind(kind, code)))], kind, words] as const,
    ),
  ];
  for (const [what, given, condition, words] of TABLE) {
    it(what, () => {
      const told = carrierCondition(...given);

      expect(told.condition).to.equal(condition);
      expect(told.words).to.match(words);
    });
  }
});
