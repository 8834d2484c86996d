import type { BindReport, CarrierMeasured } from '../../shared/carriers/bind-report.ts';
import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import { troubleWords } from '../../shared/carriers/carrier-condition.ts';
import { listConditions } from '../../shared/carriers/list-conditions.ts';
import { type Command, defineCommand } from './command.ts';
import { table } from './show.ts';

const HEADING = [
  ...['CARRIER', 'BIND', 'STATE', 'SINCE', 'WINDOW', 'RATE', 'ANSWERS p50/p99', 'THROTTLED', 'RECEIPTS'],
  'LAST REFUSAL',
];

export const BIND_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'bind',
    verb: 'list',
    about:
      'Shows each bind of each carrier: state, window, rate, time to the answer, throttled answers, receipts, last refusal.',
    args: {},
    options: {},
    notes:
      'Measured by the process that holds the carrier, since it began, told every three seconds. WINDOW: submits without an answer, of those\n' +
      'that may be. RATE: segments a second over all binds; with * it was learned when the carrier throttled. Times: of the last 1,000 answers.',
    async run(_, { db, clock }) {
      const all = await listConditions(await db(), clock.now());
      const rows = all.flatMap(({ carrier, words, binds, measured }) =>
        binds.length === 0
          ? [[carrier._id, '', words]]
          : binds.map((bind) => [carrier._id, String(bind.index), ...bindCells(carrier, bind, measured)]),
      );
      const json = all.map(({ carrier, condition, binds, measured }) => ({
        ...{ carrier: carrier._id, condition, windowSize: carrier.windowSize, perSecond: carrier.perSecond },
        ...{ binds, measured },
      }));
      return { text: table(HEADING, rows, 'There are no carriers yet.'), json };
    },
  }),
];

function bindCells(carrier: CarrierDocument, bind: BindReport, measured: CarrierMeasured | undefined): string[] {
  const { answers = {}, receipts = {}, answerMs, unanswered } = measured ?? {};
  const counts = Object.entries(receipts).map(([state, count]) => `${state} ${count}`);
  return [
    bind.state,
    bind.since.toISOString(),
    `${unanswered?.[bind.index] ?? '-'}/${carrier.windowSize}`,
    rateWords(carrier, measured),
    answerMs === undefined ? '-' : `${answerMs.p50}/${answerMs.p99} ms`,
    String(answers.throttled ?? 0),
    counts.length === 0 ? '-' : counts.join(', '),
    refusalWords(bind, measured),
  ];
}

function rateWords({ perSecond: limit }: CarrierDocument, measured: CarrierMeasured | undefined): string {
  const { perSecond } = measured ?? {};
  if (perSecond === undefined) return limit === 0 ? 'no limit' : `${limit}/s`;
  return `${perSecond}/s${perSecond === limit ? '' : '*'}`;
}

/** Of two things the newer one: why the bind was not bound, or the last submit that was not accepted. */
function refusalWords({ trouble, lastTrouble }: BindReport, measured: CarrierMeasured | undefined): string {
  const ofBind = trouble ?? lastTrouble;
  const ofSubmit = measured?.lastRefusal;
  if (ofSubmit !== undefined && (ofBind === undefined || ofBind.since < ofSubmit.at)) {
    return `submit: ${ofSubmit.reason} (${ofSubmit.code}) at ${ofSubmit.at.toISOString()}`;
  }
  return ofBind === undefined ? 'none' : troubleWords(ofBind);
}
