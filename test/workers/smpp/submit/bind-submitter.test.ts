import fc from 'fast-check';
import { TokenBucket } from '../../../../shared/platform/runtime/token-bucket.ts';
import { BindSubmitter } from '../../../../workers/smpp/submit/bind-submitter.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function open(size: number, { perSecond = 0 } = {}) {
  const clock = new ManualClock();
  const written: number[] = [];
  let room = 0;
  const session = { open: true, congested: false, submit: (segment: number) => void written.push(segment) };
  const submitter = new BindSubmitter<number>({
    windowSize: size,
    clock,
    tokens: new TokenBucket({ clock, perSecond }),
    mayWrite: () => true,
    onSubmit: () => {},
    onRoom: () => {
      room += 1;
    },
  });
  submitter.setSession(session);
  return { submitter, session, written, clock, room: () => room };
}

describe('BindSubmitter', () => {
  it('writes no more than it holds, and the rest in order as answers come', () => {
    const { submitter, written } = open(3);

    submitter.add([1, 2, 3, 4, 5]);
    const first = [...written];
    submitter.release();
    submitter.release();

    expect(first).to.deep.equal([1, 2, 3]);
    expect(written).to.deep.equal([1, 2, 3, 4, 5]);
    expect(submitter.unanswered).to.equal(3);
  });

  it('never has more unanswered than its size and never changes the order, whatever happens', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant('answer' as const)), { maxLength: 80 }),
        (size, steps) => {
          const { submitter, written } = open(size);
          let next = 0;
          for (const step of steps) {
            if (step === 'answer') {
              if (submitter.unanswered > 0) submitter.release();
            } else {
              submitter.add(Array.from({ length: step }, () => next++));
            }
            expect(submitter.unanswered).to.be.at.most(size);
          }
          expect(written).to.deep.equal(written.map((_, i) => i));
        },
      ),
    );
  });

  it('counts what waits as taken', () => {
    const { submitter } = open(3);

    submitter.add([1, 2, 3, 4]);

    expect(submitter.free).to.equal(-1);
    expect(submitter.waiting).to.equal(1);
  });

  it('tells when there is room again, not while something still waits for it', () => {
    const { submitter, room } = open(1);
    submitter.add([1, 2]);

    submitter.release();
    const before = room();
    submitter.release();

    expect([before, room()]).to.deep.equal([0, 1]);
  });

  describe('while its carrier answers', () => {
    /** A full window of 10, and 400 answers in the last second. */
    function busy() {
      const opened = open(10);
      for (let i = 0; i < 400; i++) {
        opened.submitter.add([i]);
        opened.submitter.release();
        opened.clock.turn(2);
      }
      opened.submitter.add(Array.from({ length: 10 }, (_, i) => 400 + i));
      return opened;
    }

    it('wants what will be answered within 50 ms, beside a full window; at most one window', () => {
      const { submitter, clock } = busy();
      const most = submitter.room;
      clock.turn(700);

      expect([most, submitter.room]).to.deep.equal([10, 5]);
    });

    it('wants nothing for single slots, until half of what it holds beyond its window is written', () => {
      const { submitter, room } = busy();
      submitter.add(Array.from({ length: 10 }, (_, i) => 500 + i));
      const before = room();

      const wanted = Array.from({ length: 6 }, () => {
        const now = submitter.room;
        submitter.release();
        return now;
      });

      expect(wanted).to.deep.equal([0, 0, 0, 0, 0, 5]);
      expect(room() - before).to.equal(2);
    });

    it('holds no more than one window beside what is unanswered', () => {
      const { submitter } = busy();
      const before = submitter.holdsMore;

      submitter.add(Array.from({ length: 10 }, (_, i) => 500 + i));

      expect([before, submitter.holdsMore]).to.deep.equal([true, false]);
    });

    it('wants nothing beyond its window once answers have not come for a second', () => {
      const { submitter, clock } = busy();

      clock.turn(1_100);

      expect(submitter.room).to.equal(0);
    });
  });

  it('waits for the rate, then goes on by itself', async () => {
    const { submitter, written, clock } = open(10, { perSecond: 10 });

    submitter.add([1, 2]);
    const first = [...written];
    clock.turn(100);

    await eventually(() => written.length === 2, 'the second segment is written');
    expect(first).to.deep.equal([1]);
    submitter.clear();
  });

  it('writes nothing while the bind has no session', () => {
    const { submitter, session, written } = open(10);
    submitter.setSession(undefined);

    submitter.add([1]);
    const before = { written: [...written], bound: submitter.takesSubmits };
    submitter.setSession(session);
    submitter.pump();

    expect(before).to.deep.equal({ written: [], bound: false });
    expect([written, submitter.takesSubmits]).to.deep.equal([[1], true]);
  });

  for (const [what, state] of [
    ['has ended', { open: false }],
    ['is read too slowly', { congested: true }],
  ] as const) {
    it(`writes nothing while its session ${what}`, () => {
      const { submitter, session, written } = open(10);
      const now = { ...session };
      Object.assign(session, state);

      submitter.add([1]);
      const before = { written: [...written], bound: submitter.takesSubmits };
      Object.assign(session, now);
      submitter.pump();

      expect(before).to.deep.equal({ written: [], bound: false });
      expect(written).to.deep.equal([1]);
    });
  }

  it('gives back what was never written when the bind is gone', () => {
    const { submitter } = open(2);
    submitter.add([1, 2, 3, 4]);

    expect(submitter.clear()).to.deep.equal([3, 4]);
    expect([submitter.unanswered, submitter.waiting, submitter.free]).to.deep.equal([0, 0, 2]);
  });

  it('lets waiting segments be withdrawn, written ones not', () => {
    const { submitter, written } = open(1);
    submitter.add([1, 2, 3]);

    expect(submitter.withdraw((segment) => segment !== 3)).to.deep.equal([2]);
    submitter.release();

    expect(written).to.deep.equal([1, 3]);
  });
});
