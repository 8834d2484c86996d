import { expect } from 'chai';
import { MongoNetworkError, MongoServerError, MongoServerSelectionError } from 'mongodb';
import { pauseMs, untilAnswered } from '../../../../shared/platform/mongo/until-answered.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('untilAnswered', () => {
  const lost = new MongoNetworkError('the connection broke');
  const noServer: unknown = Object.assign(Object.create(MongoServerSelectionError.prototype), { message: 'no server' });
  const refused = new Error('refused');
  const overloaded = new MongoServerError({ ok: 0, code: 462, errmsg: 'too many requests' });
  /** Asks for what happens one after the other: an error is thrown. */
  const asking = (...happens: readonly unknown[]) => {
    const left = [...happens];
    return untilAnswered({ clock: systemClock, log: silentLog, what: {} }, async () => {
      const next = left.shift();
      if (next instanceof Error) throw next;
      return next;
    });
  };
  const rejectionOf = (promise: Promise<unknown>) => promise.then(undefined, (error: unknown) => error);

  it('gives the answer, also when earlier ones were lost', async () => {
    expect(await asking('yes')).to.deep.equal({ answer: 'yes' });
    expect(await asking(lost, noServer, 'yes')).to.deep.equal({ answer: 'yes' });
  });

  it('rejects while nothing can have happened', async () => {
    expect(await rejectionOf(asking(noServer))).to.equal(noServer);
    expect(await rejectionOf(asking(refused))).to.equal(refused);
  });

  it('does not take a refusal of the repeat for one of what was asked before', async () => {
    expect(await asking(lost, refused)).to.equal('unknown');
  });

  it('asks an overloaded store again, which had done nothing', async () => {
    expect(await asking(overloaded, overloaded, 'yes')).to.deep.equal({ answer: 'yes' });
    expect(await rejectionOf(asking(overloaded, refused))).to.equal(refused);
    expect(await asking(overloaded, lost, refused)).to.equal('unknown');
  });

  it('rejects with its refusal when it stays overloaded for too long', async () => {
    const clock = new ManualClock(new Date());
    const asked = untilAnswered({ clock, log: silentLog, what: {} }, async () => {
      clock.turn(1_500);
      throw overloaded;
    });

    expect(await rejectionOf(asked)).to.equal(overloaded);
  });

  it('waits longer each time for an overloaded store, for a random part of it, and never for long', () => {
    const longest = () => 1;

    expect([1, 2, 3, 4, 5, 60].map((failed) => pauseMs(overloaded, failed, longest))).to.deep.equal([
      200, 400, 800, 1_600, 1_600, 1_600,
    ]);
    expect(pauseMs(overloaded, 3, () => 0.25)).to.equal(200);
    expect([1, 60].map((failed) => pauseMs(lost, failed, longest))).to.deep.equal([100, 100]);
  });
});
