import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { STATUS } from '../../../../shared/carriers/command-status.ts';
import type { SubmitOutcome } from '../../../../shared/messages/settlement/decide-outcome.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { Measurements } from '../../../../workers/smpp/monitoring/bind-reporter.ts';
import { createSmppMetrics } from '../../../../workers/smpp/monitoring/metrics.ts';
import { submitAnswers } from '../../../../workers/smpp/session/wire.ts';
import { Answers, type AnswersOptions } from '../../../../workers/smpp/submit/answers.ts';
import type { BindSubmitter } from '../../../../workers/smpp/submit/bind-submitter.ts';
import { Breaker } from '../../../../workers/smpp/submit/breaker.ts';
import { CarrierRate } from '../../../../workers/smpp/submit/carrier-rate.ts';
import { type Segment, Submission } from '../../../../workers/smpp/submit/submission.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';

const REFUSED_FOR_NOW = { throttled: STATUS.throttled, retry: STATUS.queueFull };

const READ = submitAnswers({});
const SUBMITTER = { release: () => undefined, clear: () => [] } as unknown as BindSubmitter<Segment>;

function open(clock: ManualClock): { answers: Answers; tokens: CarrierRate; outcomes: SubmitOutcome[] } {
  const outcomes: SubmitOutcome[] = [];
  const tokens = new CarrierRate({ clock, perSecond: 0, random: () => 0.5 });
  const carrier = { ...CARRIER_DEFAULTS, _id: 'c' } as CarrierDocument; // the tests read no other fields
  const answers = new Answers({
    ...{ carrier, clock, log: silentLog, metrics: createSmppMetrics(new Metrics()) },
    ...{ tokens, breaker: new Breaker(clock), measurements: new Measurements(clock) },
    serving: { next: () => '@30:d' },
    outcomes: {
      add: async (_: unknown, outcome: SubmitOutcome) => {
        outcomes.push(outcome);
      },
    } as unknown as AnswersOptions['outcomes'],
  });
  return { answers, tokens, outcomes };
}

describe('Answers', () => {
  for (const [kind, status] of Object.entries(REFUSED_FOR_NOW)) {
    it(`${kind}: the outcome names the carriers that may take it when the tries are over`, () => {
      const { answers, outcomes } = open(new ManualClock());
      const submission = new Submission(makeMessage({ path: '@30:c>d' }), [{ frame: Buffer.alloc(0) }]);
      const [segment] = submission.segments;

      if (segment !== undefined) answers.onAnswer(SUBMITTER, segment, READ({ status, messageId: '' }));

      expect(outcomes).to.have.length(1);
      expect(outcomes[0]).to.include({ kind, path: '@30:d' });
    });
  }

  const LOST: Readonly<Record<string, (answers: Answers, segments: readonly Segment[]) => void>> = {
    'a connection that broke': (answers, unanswered) => answers.onLost(SUBMITTER, { unanswered, unwritten: [] }),
    'a connection that broke before they were written': (answers, unwritten) =>
      answers.onLost(SUBMITTER, { unanswered: [], unwritten }),
    'a carrier that was silent': (answers, segments) => {
      for (const segment of segments) answers.onTimeout(SUBMITTER, segment);
    },
  };
  for (const [what, lose] of Object.entries(LOST)) {
    it(`answers that will not come, of ${what}: the next throttled answers are no old news`, () => {
      const clock = new ManualClock();
      const { answers, tokens } = open(clock);
      const submit = (): Segment => {
        expect(tokens.take()).to.equal(true);
        const [segment] = new Submission(makeMessage(), [{ frame: Buffer.alloc(0) }]).segments;
        if (segment === undefined) throw new Error('a message has a segment');
        return segment;
      };
      const answer = (status: number) => answers.onAnswer(SUBMITTER, submit(), READ({ status, messageId: '' }));
      lose(answers, Array.from({ length: 100 }, submit));
      for (let i = 0; i < 20; i++) {
        answer(STATUS.ok);
        clock.turn(100);
      }

      answer(STATUS.throttled);
      const learned = tokens.perSecond;
      clock.turn(1_500);
      answer(STATUS.throttled);

      expect(learned).to.be.below(10);
      expect(tokens.perSecond).to.be.below(0.8 * learned);
    });
  }
});
