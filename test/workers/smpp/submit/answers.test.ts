import { expect } from 'chai';
import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { STATUS } from '../../../../shared/carriers/command-status.ts';
import { Metrics } from '../../../../shared/runtime/metrics.ts';
import type { SubmitOutcome } from '../../../../shared/settlement/submit-outcome.ts';
import { Measurements } from '../../../../workers/smpp/session/measurements.ts';
import { createSmppMetrics } from '../../../../workers/smpp/session/metrics.ts';
import { Answers, type AnswersOptions } from '../../../../workers/smpp/submit/answers.ts';
import type { BindSubmitter } from '../../../../workers/smpp/submit/bind-submitter.ts';
import { Breaker } from '../../../../workers/smpp/submit/breaker.ts';
import { CarrierRate } from '../../../../workers/smpp/submit/carrier-rate.ts';
import { type Segment, Submission } from '../../../../workers/smpp/submit/submission.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';

const REFUSED_FOR_NOW = { throttled: STATUS.throttled, retry: STATUS.queueFull };

describe('Answers', () => {
  for (const [kind, status] of Object.entries(REFUSED_FOR_NOW)) {
    it(`${kind}: the outcome names the carriers that may take it when the tries are over`, () => {
      const outcomes: SubmitOutcome[] = [];
      const clock = new ManualClock();
      const carrier = { ...CARRIER_DEFAULTS, _id: 'c' } as CarrierDocument; // the test reads no other fields
      const answers = new Answers({
        ...{ carrier, clock, log: silentLog, metrics: createSmppMetrics(new Metrics()) },
        ...{ tokens: new CarrierRate({ clock, perSecond: 0 }), breaker: new Breaker(clock) },
        ...{ measurements: new Measurements(clock), serving: { next: () => '@30:d' } },
        outcomes: {
          add: async (_: unknown, outcome: SubmitOutcome) => {
            outcomes.push(outcome);
          },
        } as unknown as AnswersOptions['outcomes'],
      });
      const submission = new Submission(makeMessage({ path: '@30:c>d' }), [Buffer.alloc(0)]);
      const [segment] = submission.segments;
      const submitter = { release: () => undefined } as unknown as BindSubmitter<Segment>;

      if (segment !== undefined) answers.onAnswer(submitter, segment, { status, messageId: '' });

      expect(outcomes).to.have.length(1);
      expect(outcomes[0]).to.include({ kind, path: '@30:d' });
    });
  }
});
