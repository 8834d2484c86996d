import { expect } from 'chai';
import { WindowSeen } from '../../../../shared/platform/runtime/grouper.ts';

describe('WindowSeen', () => {
  it('is the most that was without a result at once', () => {
    const window = new WindowSeen();
    const before = window.most;

    for (const count of [1, 7, 3]) window.note(count, 0);

    expect([before, window.most]).to.deep.equal([0, 7]);
  });

  it('forgets a larger window after 5 to 10 seconds in which less came', () => {
    const window = new WindowSeen();
    window.note(100, 0);

    window.note(10, 5_000);
    const soon = window.most;
    window.note(10, 9_999);
    const stillSoon = window.most;
    window.note(10, 10_000);

    expect([soon, stillSoon, window.most]).to.deep.equal([100, 100, 10]);
  });

  it('remembers the window over a time in which nothing came', () => {
    const window = new WindowSeen();
    window.note(100, 0);

    window.note(1, 3_600_000);

    expect(window.most).to.equal(100);
  });
});
