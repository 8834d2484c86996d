import { expect } from 'chai';
import { MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import { untilAnswered } from '../../../shared/mongo/until-answered.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLog } from '../../support/silent-log.ts';

describe('untilAnswered', () => {
  const lost = new MongoNetworkError('the connection broke');
  const noServer: unknown = Object.assign(Object.create(MongoServerSelectionError.prototype), { message: 'no server' });
  const refused = new Error('refused');
  /** Asks for what happens one after the other: an error is thrown. */
  const asking = (...happens: readonly unknown[]) => {
    const left = [...happens];
    return untilAnswered({ clock: systemClock, log: silentLog, what: {} }, async () => {
      const next = left.shift();
      if (next === refused || next === lost || next === noServer) throw next;
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
});
