import { expect } from 'chai';
import { within } from '../../../../shared/platform/runtime/within.ts';

describe('within', () => {
  it('gives what the work gives', async () => {
    // A timer that was left would keep the test run from ending.
    expect(await within(60_000, Promise.resolve(1))).to.equal(1);
  });

  it('gives undefined when the time is over, and takes what the work throws later', async () => {
    let fail: (error: Error) => void = () => {};
    const work = new Promise<number>((_, reject) => {
      fail = reject;
    });

    expect(await within(1, work)).to.equal(undefined);
    // An unhandled rejection would end the run.
    fail(new Error('too late'));
  });

  it('rejects with what the work rejects with', async () => {
    const error = await within(60_000, Promise.reject(new Error('away'))).catch((reason: unknown) => reason);

    expect(error).to.be.an('error').with.property('message', 'away');
  });
});
