import type { MessageState, Part } from '../../../../shared/messages/document/message.ts';
import { judgeCharge, type Member, wasRefused } from '../../../../shared/money/conversations/charge.ts';
import { type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';

const ACCEPTED: Part = { key: 'chatapp:a:w', state: 'accepted' };
const REFUSED: Part = { state: 'refused' };
const UNKNOWN: Part = { state: 'unknown' };

describe('conversations/charge', () => {
  const ends: readonly [MessageState, readonly Part[] | undefined, boolean][] = [
    ['queued', undefined, false],
    ['waiting', undefined, false],
    ['submitting', undefined, false],
    ['submitting', [UNKNOWN], false],
    ['sent', [ACCEPTED], false],
    ['sent', [UNKNOWN], false],
    ['delivered', [{ state: 'delivered' }], false],
    ['read', [{ state: 'delivered' }], false],
    ['rejected', undefined, true],
    ['rejected', [REFUSED], true],
    ['rejected', [UNKNOWN], false],
    ['expired', undefined, true],
    ['expired', [ACCEPTED], false],
    ['failed', [REFUSED], true],
    ['failed', [{ state: 'failed' }], false],
    ['failed', [], false],
  ];
  for (const [state, parts, isRefused] of ends) {
    it(`${state} with ${JSON.stringify(parts)} is ${isRefused ? 'refused' : 'not refused'}`, () => {
      expect(wasRefused({ state, ...(parts === undefined ? {} : { parts }) })).to.equal(isRefused);
    });
  }

  for (const state of ['queued', 'waiting', 'expired', 'failed'] as const) {
    it(`${state}, an earlier send of it in doubt: not refused, until that one is refused`, () => {
      const claim = { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: new Date() };
      const resent = (part: Part) => ({ state, parts: [REFUSED], earlier: [{ ...claim, parts: [part] }] });

      expect(wasRefused(resent(UNKNOWN))).to.equal(false);
      expect(wasRefused(resent(REFUSED))).to.equal(state === 'expired' || state === 'failed');
    });
  }

  const [opener, first, second] = [newId('msg'), newId('msg'), newId('msg')];
  const member = (_id: MessageId, isRefused: boolean): Member => ({ _id, isRefused });

  it('stands while its opener was not refused, whatever the others are', () => {
    for (const other of [true, false]) {
      expect(judgeCharge(member(opener, false), [member(first, other)])).to.deep.equal({ kind: 'stands' });
    }
    expect(judgeCharge(undefined, []), 'nobody knows the opener').to.deep.equal({ kind: 'stands' });
  });

  it('passes on to the first other that was not refused, and is refunded when there is none', () => {
    const failed = member(opener, true);
    expect(judgeCharge(failed, [member(first, true), member(second, false)])).to.deep.equal({
      kind: 'passes_on',
      successor: second,
    });
    expect(judgeCharge(failed, [member(first, false), member(second, false)])).to.deep.equal({
      kind: 'passes_on',
      successor: first,
    });
    expect(judgeCharge(failed, [member(first, true)])).to.deep.equal({ kind: 'refunded' });
    expect(judgeCharge(failed, [])).to.deep.equal({ kind: 'refunded' });
  });

  describe('every order of what can happen to an opener and its included messages', () => {
    type Event = 'claimed' | 'accepted' | 'delivered' | 'refused' | 'failed' | 'unknown' | 'back' | 'expired';
    /** The possible lives of a message by a provider's statuses. The last event of each is its end. */
    const LIVES: readonly (readonly Event[])[] = [
      ['claimed', 'accepted', 'delivered'],
      ['claimed', 'accepted', 'failed'],
      ['claimed', 'refused'],
      ['claimed', 'unknown', 'failed'],
      ['claimed', 'unknown', 'accepted'],
      ['claimed', 'back', 'expired'],
      ['claimed', 'back', 'claimed', 'accepted'],
      ['expired'],
      // The provider reports a failure, yet delivers the message.
      ['claimed', 'failed', 'delivered'],
    ];
    const STATES: Readonly<Record<Event, { readonly state: MessageState; readonly parts?: readonly Part[] }>> = {
      claimed: { state: 'submitting' },
      accepted: { state: 'sent', parts: [ACCEPTED] },
      delivered: { state: 'delivered', parts: [{ state: 'delivered' }] },
      refused: { state: 'rejected', parts: [REFUSED] },
      failed: { state: 'failed', parts: [REFUSED] },
      unknown: { state: 'submitting', parts: [UNKNOWN] },
      back: { state: 'queued' },
      expired: { state: 'expired' },
    };

    /** A message: its life (index of `LIVES`), and how many of its events have happened. */
    interface Walker {
      readonly life: number;
      readonly at: number;
      /** Whether it is stored. A late insert may find its conversation refunded. */
      readonly stored: boolean;
      /** It found its conversation refunded and was not sent. */
      readonly barred: boolean;
      /** It ended as refused, and its follow-up is still to be done. */
      readonly due: boolean;
    }
    /** A conversation's messages, which of them is charged (at first walker 0), and the number of refunds. */
    interface World {
      readonly walkers: readonly Walker[];
      readonly opener: number;
      readonly refunds: number;
    }

    const ids = ['msg_0', 'msg_1', 'msg_2', 'msg_3'] as readonly MessageId[];
    const eventOf = ({ life, at }: Walker): Event | undefined => LIVES[life]?.[at - 1];
    const isRefused = (walker: Walker): boolean => {
      const event = eventOf(walker);
      return walker.barred || (event !== undefined && wasRefused(STATES[event]));
    };
    const membersOf = ({ walkers }: World): Member[] =>
      walkers.flatMap((walker, i) => (walker.stored ? member(ids[i] as MessageId, isRefused(walker)) : []));

    /** Applies the rule as the store would until the charge stands or is refunded. Each step is atomic. */
    function settle(world: World): World {
      if (world.refunds > 0) return world;
      const members = membersOf(world);
      const current = members.find(({ _id }) => _id === ids[world.opener]);
      const after = members.findIndex(({ _id }) => _id === current?._id);
      const others = [...members.slice(after + 1), ...members.slice(0, after)];
      const verdict = judgeCharge(current, others);
      if (verdict.kind === 'stands') return world;
      if (verdict.kind === 'refunded') return { ...world, refunds: world.refunds + 1 };
      return settle({ ...world, opener: ids.indexOf(verdict.successor) });
    }

    function put(world: World, i: number, change: Partial<Walker>): World {
      return { ...world, walkers: world.walkers.map((one, at) => (at === i ? { ...one, ...change } : one)) };
    }

    /** All possible next worlds: after a message's event, or after the follow-up of a refused one. */
    function nextOf(world: World): World[] {
      return world.walkers.flatMap((walker, i) => {
        const next: World[] = [];
        if (walker.due) next.push(settle(put(world, i, { due: false })));
        const event = LIVES[walker.life]?.[walker.at];
        if (!walker.stored) return [...next, put(world, i, { stored: true })];
        if (walker.barred || event === undefined) return next;
        const refused = wasRefused(STATES[event]);
        const done = put(world, i, { at: walker.at + 1, due: walker.due || refused });
        if (event !== 'claimed' || i === world.opener) return [...next, done];
        // An included message checks the charge before it leaves: it stays if the conversation is refunded.
        const looked = settle(done);
        return [...next, looked.refunds > 0 ? put(looked, i, { barred: true }) : looked];
      });
    }

    /** `expect` would be too slow for hundreds of thousands of checks. */
    function hold(right: boolean, what: string, world: World): void {
      if (right) return;
      const lives = world.walkers.map(({ life, at, barred }) => [
        ...(LIVES[life] ?? []).slice(0, at),
        barred && 'barred',
      ]);
      expect.fail(`${what}: ${JSON.stringify({ lives, world })}`);
    }

    /** What the money's specification demands at every moment, judged only by the provider's acts. */
    function holdMoment(world: World, before: World): void {
      const inIt = world.walkers.filter(({ barred }) => !barred).map(eventOf);
      hold(world.refunds <= 1, 'given back once', world);
      const surelyNothing = inIt.every(
        (event) => event === undefined || ['refused', 'failed', 'expired', 'back'].includes(event),
      );
      // A message delivered in spite of the refund is not charged again.
      if (world.refunds > before.refunds) hold(surelyNothing, 'comes back only when surely nothing was taken', world);
      if (before.refunds === 0) return;
      for (const [i, walker] of world.walkers.entries()) {
        const leaves = walker.at > (before.walkers[i]?.at ?? 0) && eventOf(walker) === 'claimed' && !walker.barred;
        hold(!leaves, 'nothing leaves in what was given back', world);
      }
    }

    /** After all follow-ups a conversation is paid if a message was accepted, and refunded if none was. */
    function holdEnd(world: World): void {
      const inIt = world.walkers.filter(({ barred }) => !barred);
      const taken = inIt.map(eventOf).some((end) => end === 'accepted' || end === 'delivered');
      const contradicted = inIt.some(({ life }) => LIVES[life]?.join().includes('failed,delivered'));
      if (!taken) hold(world.refunds === 1, 'nothing was taken: given back', world);
      else if (!contradicted) hold(world.refunds === 0, 'something was taken: paid', world);
    }

    function keyOf({ walkers, opener, refunds }: World): string {
      return `${opener} ${refunds} ${walkers.map(({ at, stored, barred, due }) => `${at}${stored ? 's' : ''}${barred ? 'b' : ''}${due ? 'o' : ''}`)}`;
    }

    /** Walks through all following worlds. `seen`: keys of those visited for the same lives. */
    function walkAll(begin: World, seen: Set<string>): void {
      const open: World[] = [begin];
      for (let world = open.pop(); world !== undefined; world = open.pop()) {
        const next = nextOf(world);
        if (next.length === 0) holdEnd(world);
        for (const one of next) {
          holdMoment(one, world);
          const key = keyOf(one);
          if (seen.has(key)) continue;
          seen.add(key);
          open.push(one);
        }
      }
    }

    function livesOf(count: number): number[][] {
      if (count === 0) return [[]];
      return livesOf(count - 1).flatMap((before) => LIVES.map((_, life) => [...before, life]));
    }

    for (const includedMessages of [0, 1, 2]) {
      it(`with ${includedMessages} included messages: paid while something was taken, given back once when nothing was`, () => {
        let states = 0;
        for (const lives of livesOf(includedMessages + 1)) {
          const walkers = lives.map((life, i) => ({
            life,
            at: 0,
            stored: i === 0 || i < includedMessages,
            barred: false,
            due: false,
          }));
          const seen = new Set<string>();
          walkAll({ walkers, opener: 0, refunds: 0 }, seen);
          states += seen.size;
        }
        expect(states).to.be.at.least(LIVES.length ** (includedMessages + 1));
      });
    }

    it('with 3 included messages that end in the ways in which a charge passes on', () => {
      const some = [0, 1, 2, 5].filter((life) => LIVES[life] !== undefined);
      for (const a of some)
        for (const b of some)
          for (const c of some) {
            const walkers = [1, a, b, c].map((life, i) => ({ life, at: 0, stored: i < 3, barred: false, due: false }));
            walkAll({ walkers, opener: 0, refunds: 0 }, new Set());
          }
    });
  });
});
