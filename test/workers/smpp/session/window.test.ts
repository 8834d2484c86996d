import { expect } from 'chai';
import fc from 'fast-check';
import { Throttle } from '../../../../shared/runtime/throttle.ts';
import { Window } from '../../../../workers/smpp/session/window.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function open(size: number, { perSecond = 0, ready = (): boolean => true } = {}) {
  const clock = new ManualClock();
  const written: number[] = [];
  let room = 0;
  const window = new Window<number>({
    size,
    throttle: new Throttle({ clock, perSecond }),
    ready,
    write: (segment) => written.push(segment),
    onRoom: () => {
      room += 1;
    },
  });
  return { window, written, clock, room: () => room };
}

describe('Window', () => {
  it('writes no more than it holds, and the rest in order as answers come', () => {
    const { window, written } = open(3);

    window.add([1, 2, 3, 4, 5]);
    const first = [...written];
    window.release();
    window.release();

    expect(first).to.deep.equal([1, 2, 3]);
    expect(written).to.deep.equal([1, 2, 3, 4, 5]);
    expect(window.unanswered).to.equal(3);
  });

  it('never has more unanswered than its size and never changes the order, whatever happens', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant('answer' as const)), { maxLength: 80 }),
        (size, steps) => {
          const { window, written } = open(size);
          let next = 0;
          for (const step of steps) {
            if (step === 'answer') {
              if (window.unanswered > 0) window.release();
            } else {
              window.add(Array.from({ length: step }, () => next++));
            }
            expect(window.unanswered).to.be.at.most(size);
          }
          expect(written).to.deep.equal(written.map((_, i) => i));
        },
      ),
    );
  });

  it('counts what waits as taken', () => {
    const { window } = open(3);

    window.add([1, 2, 3, 4]);

    expect(window.free).to.equal(-1);
    expect(window.waiting).to.equal(1);
  });

  it('tells when there is room again, not while something still waits for it', () => {
    const { window, room } = open(1);
    window.add([1, 2]);

    window.release();
    const before = room();
    window.release();

    expect([before, room()]).to.deep.equal([0, 1]);
  });

  it('waits for the rate, then goes on by itself', async () => {
    const { window, written, clock } = open(10, { perSecond: 10 });

    window.add([1, 2]);
    const first = [...written];
    clock.turn(100);

    await eventually(() => written.length === 2, 'the second segment is written');
    expect(first).to.deep.equal([1]);
    window.clear();
  });

  it('writes nothing while the link is not ready', () => {
    let up = false;
    const { window, written } = open(10, { ready: () => up });

    window.add([1]);
    const before = [...written];
    up = true;
    window.pump();

    expect([before, written]).to.deep.equal([[], [1]]);
  });

  it('gives back what was never written when the link is gone', () => {
    const { window } = open(2);
    window.add([1, 2, 3, 4]);

    expect(window.clear()).to.deep.equal([3, 4]);
    expect([window.unanswered, window.waiting, window.free]).to.deep.equal([0, 0, 2]);
  });

  it('lets waiting segments be withdrawn, written ones not', () => {
    const { window, written } = open(1);
    window.add([1, 2, 3]);

    expect(window.withdraw((segment) => segment !== 3)).to.deep.equal([2]);
    window.release();

    expect(written).to.deep.equal([1, 3]);
  });
});
