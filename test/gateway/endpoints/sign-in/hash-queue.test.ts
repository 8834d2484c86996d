import { HashQueue, type Lane } from '../../../../gateway/endpoints/sign-in/passwords.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** The order of works that the test ends. */
class Works {
  readonly clock = new ManualClock();
  readonly queue = new HashQueue(this.clock);
  readonly begun: string[] = [];
  readonly #ends: (() => void)[] = [];
  readonly answers: Promise<string | undefined>[] = [];

  ask(key: string, known = false, name = key): Promise<string | undefined> {
    const lane: Lane = { key, known };
    const answer = this.queue.run(lane, async () => {
      this.begun.push(name);
      await new Promise<void>((resolve) => this.#ends.push(resolve));
      return name;
    });
    this.answers.push(answer);
    return answer;
  }

  /** Ends whatever runs, until nothing waits. */
  async drain(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const ends = this.#ends.splice(0);
      if (ends.length === 0) return;
      for (const end of ends) end();
    }
  }

  async refused(): Promise<number> {
    await this.drain();
    return (await Promise.all(this.answers)).filter((answer) => answer === undefined).length;
  }
}

describe('the queue of password hashes', () => {
  it('a network’s many wait behind its own, not before others', async () => {
    const works = new Works();
    for (let i = 1; i <= 20; i++) void works.ask('crowd', false, `crowd${i}`);
    void works.ask('one');
    void works.ask('two');
    await works.drain();

    expect(works.begun.slice(0, 5)).to.deep.equal(['crowd1', 'crowd2', 'one', 'two', 'crowd3']);
    expect(works.begun).to.have.length(22);
  });

  it('whoever was here before begins at once, whatever strangers do', async () => {
    const works = new Works();
    for (let i = 1; i <= 200; i++) void works.ask(`stranger${i}`);
    void works.ask('acc_1', true);

    await new Promise((resolve) => setImmediate(resolve));
    expect(works.begun).to.deep.equal(['stranger1', 'acc_1']);
    expect(await works.refused()).to.equal(0);
  });

  it('one network has 32 waiting at most, and a full queue takes the place from the longest', async () => {
    const works = new Works();
    for (let network = 1; network <= 8; network++) for (let i = 1; i <= 40; i++) void works.ask(`crowd${network}`);
    const late = works.ask('late');

    await works.drain();
    expect(await late).to.equal('late');
    // One runs, 256 wait; `late` replaced one of them.
    expect(await works.refused()).to.equal(8 * 40 + 1 - 257);
  });

  it('what waited ten seconds is refused', async () => {
    const works = new Works();
    void works.ask('first');
    const second = works.ask('second');
    await new Promise((resolve) => setImmediate(resolve));
    works.clock.turn(10_001);

    await works.drain();
    expect(await second).to.equal(undefined);
    expect(works.begun).to.deep.equal(['first']);
  });

  it('work that fails leaves its place', async () => {
    const { queue } = new Works();
    for (let i = 0; i < 3; i++) {
      const failed = await queue.run({ key: 'a', known: false }, () => Promise.reject(new Error('no'))).catch(String);
      expect(failed).to.equal('Error: no');
    }
  });
});
