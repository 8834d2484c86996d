import { submitAnswers } from '../../../../workers/smpp/session/wire.ts';
import { type SegmentAnswer, verdictOf } from '../../../../workers/smpp/submit/submission.ts';

const read = submitAnswers({});
const accepted = (messageId: string): SegmentAnswer => ({ kind: 'answered', ...read({ status: 0, messageId }) });
const status = (code: number): SegmentAnswer => ({ kind: 'answered', ...read({ status: code, messageId: '' }) });
const UNKNOWN: SegmentAnswer = { kind: 'unknown' };
const UNWRITTEN: SegmentAnswer = { kind: 'unwritten' };

const CASES: readonly (readonly [string, readonly SegmentAnswer[], string])[] = [
  ['accepted', [accepted('A')], 'sent'],
  ['all accepted', [accepted('A'), accepted('B')], 'sent'],
  ['refused', [status(0x01)], 'rejected'],
  ['refused by this carrier', [status(0x0b)], 'refused_here'],
  ['throttled', [status(0x58)], 'throttled'],
  ['queue full', [status(0x14)], 'retry'],
  ['bind state', [status(0x04)], 'requeue'],
  ['never written', [UNWRITTEN, UNWRITTEN], 'requeue'],
  ['no answer', [UNKNOWN], 'unknown'],
  ['one without an answer', [accepted('A'), UNKNOWN], 'unknown'],
  ['no answer and refused', [UNKNOWN, status(0x0b)], 'unknown'],
  ['one refused for good', [accepted('A'), status(0x0b)], 'partial'],
  ['refused for good before the rest was written', [status(0x01), UNWRITTEN], 'rejected'],
  ['refused by this carrier before the rest was written', [status(0x0b), UNWRITTEN], 'refused_here'],
  ['refused by this carrier and for good', [status(0x0b), status(0x01)], 'rejected'],
  ['one throttled', [accepted('A'), status(0x58)], 'resume'],
  ['one for later', [status(0x14), accepted('A')], 'resume'],
  ['one never written', [accepted('A'), UNWRITTEN], 'resume'],
  ['throttled and for later', [status(0x58), status(0x14)], 'retry'],
  ['throttled and refused', [status(0x58), status(0x01)], 'rejected'],
  ['throttled and refused by this carrier', [status(0x58), status(0x0b)], 'refused_here'],
  ['throttled and never written', [status(0x58), UNWRITTEN], 'throttled'],
];

describe('verdictOf', () => {
  for (const [what, answers, kind] of CASES) {
    it(`${what}: ${kind}`, () => {
      expect(verdictOf(answers, 'c').kind).to.equal(kind);
    });
  }

  it('keeps the ids of accepted segments, in their case and without leading zeros', () => {
    expect(verdictOf([accepted('00Ab'), accepted('')], 'c')).to.deep.equal({
      kind: 'sent',
      parts: [{ state: 'accepted', key: 'c:Ab', caseless: 'c:ab' }, { state: 'accepted' }],
    });
  });

  it('names the gravest refusal', () => {
    expect(verdictOf([status(0x58), status(0x0b)], 'c')).to.include({
      code: '0x0B',
      reason: 'Invalid destination address',
    });
  });

  it("believes the carrier's own meaning of a status", () => {
    const own = submitAnswers({
      answers: {
        statusClass: [
          { status: 0x0401, means: 'throttle' },
          { status: 0x0b, means: 'retry', pauseSeconds: 60 },
        ],
      },
    });

    expect(own({ status: 0x0401, messageId: '' }).meaning).to.equal('throttled');
    expect(own({ status: 0x0b, messageId: '' })).to.include({ meaning: 'retry', pauseMs: 60_000 });
  });

  it('resumes only what was not accepted, and is partial when it cannot', () => {
    const verdict = verdictOf([accepted('A'), status(0x58), accepted('C')], 'c');

    expect(verdict).to.deep.include({ kind: 'resume', segments: [1], throttled: true });
    expect(verdict.kind === 'resume' && verdict.otherwise.kind).to.equal('partial');
  });
});
