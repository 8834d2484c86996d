import type { MessageState, Part } from '../../../../shared/messages/document/message.ts';
import { type Fate, fateOf, judgeCharge, type Member } from '../../../../shared/money/conversations/charge.ts';
import { type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';

const ACCEPTED: Part = { key: 'chatapp:a:w', state: 'accepted' };
const REFUSED: Part = { state: 'refused' };
const UNKNOWN: Part = { state: 'unknown' };

describe('conversations/charge', () => {
  const fates: readonly [MessageState, readonly Part[] | undefined, Fate][] = [
    ['queued', undefined, 'waits'],
    ['waiting', undefined, 'waits'],
    ['submitting', undefined, 'taken'],
    ['submitting', [UNKNOWN], 'taken'],
    ['sent', [ACCEPTED], 'taken'],
    ['sent', [UNKNOWN], 'taken'],
    ['delivered', [{ state: 'delivered' }], 'taken'],
    ['read', [{ state: 'delivered' }], 'taken'],
    ['rejected', undefined, 'refused'],
    ['rejected', [REFUSED], 'refused'],
    ['rejected', [UNKNOWN], 'taken'],
    ['expired', undefined, 'refused'],
    ['expired', [ACCEPTED], 'taken'],
    ['failed', [REFUSED], 'refused'],
    ['failed', [{ state: 'failed' }], 'taken'],
    ['failed', [], 'taken'],
  ];
  for (const [state, parts, fate] of fates) {
    it(`${state} with ${JSON.stringify(parts)} is ${fate}`, () => {
      expect(fateOf({ state, ...(parts === undefined ? {} : { parts }) })).to.equal(fate);
    });
  }

  for (const state of ['queued', 'waiting', 'expired', 'failed'] as const) {
    it(`${state}, an earlier send of it in doubt: taken, until that one is refused`, () => {
      const claim = { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: new Date() };
      const resent = (part: Part) => ({ state, parts: [REFUSED], earlier: [{ ...claim, parts: [part] }] });

      expect(fateOf(resent(UNKNOWN))).to.equal('taken');
      expect(fateOf(resent(REFUSED))).to.equal(state === 'queued' || state === 'waiting' ? 'waits' : 'refused');
    });
  }

  const [opener, first, second] = [newId('msg'), newId('msg'), newId('msg')];
  const member = (_id: MessageId, fate: Fate): Member => ({ _id, fate });

  it('stands while its opener was taken, or waits, whatever the others are', () => {
    for (const fate of ['taken', 'waits'] as const) {
      for (const other of ['taken', 'waits', 'refused'] as const) {
        expect(judgeCharge(member(opener, fate), [member(first, other)])).to.deep.equal({ kind: 'stands' });
      }
    }
    expect(judgeCharge(undefined, []), 'nobody knows the opener').to.deep.equal({ kind: 'stands' });
  });

  it('passes on to the first other that was taken, and is refunded when there is none', () => {
    const failed = member(opener, 'refused');
    expect(judgeCharge(failed, [member(first, 'refused'), member(second, 'taken')])).to.deep.equal({
      kind: 'passes_on',
      successor: second,
    });
    expect(judgeCharge(failed, [member(first, 'taken'), member(second, 'taken')])).to.deep.equal({
      kind: 'passes_on',
      successor: first,
    });
    expect(judgeCharge(failed, [member(first, 'waits'), member(second, 'refused')])).to.deep.equal({
      kind: 'refunded',
    });
    expect(judgeCharge(failed, [])).to.deep.equal({ kind: 'refunded' });
  });

  describe('every order of what can happen to an opener and its included messages', () => {
    /** One thing that may happen to a message. */
    type Event = 'claimed' | 'accepted' | 'delivered' | 'refused' | 'failed' | 'unknown' | 'back' | 'expired';
    /** The possible lives of a message, as a provider tells them. The last event of each is its end. */
    const LIVES: readonly (readonly Event[])[] = [
      ['claimed', 'accepted', 'delivered'],
      ['claimed', 'accepted', 'failed'],
      ['claimed', 'refused'],
      ['claimed', 'unknown', 'failed'],
      ['claimed', 'unknown', 'accepted'],
      ['claimed', 'back', 'expired'],
      ['claimed', 'back', 'claimed', 'accepted'],
      ['expired'],
      // The provider reports a failure and delivers the message all the same.
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

    /**
     * One message: its life (an index of `LIVES`), how many events of it have happened, and whether the message went to another
     * conversation.
     */
    interface Walker {
      readonly life: number;
      readonly at: number;
      readonly moved: boolean;
      /** It ended as refused, and the follow-up of that is still to be done. */
      readonly due: boolean;
    }
    /** The messages of a conversation, which of them it is charged with (at first walker 0), and how often it was refunded. */
    interface World {
      readonly walkers: readonly Walker[];
      readonly opener: number;
      readonly refunds: number;
    }

    const ids = ['msg_0', 'msg_1', 'msg_2', 'msg_3'] as readonly MessageId[];
    const eventOf = ({ life, at }: Walker): Event | undefined => LIVES[life]?.[at - 1];
    const fate = (walker: Walker): Fate => {
      const event = eventOf(walker);
      return event === undefined ? 'waits' : fateOf(STATES[event]);
    };
    const membersOf = ({ walkers }: World): Member[] =>
      walkers.flatMap((walker, i) => (walker.moved ? [] : member(ids[i] as MessageId, fate(walker))));

    /** Does what the rule says, as the store would, until the charge stands or is refunded. Each step is atomic. */
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

    /** All worlds that may come next, by an event of a message or by the follow-up of a message that ended as refused. */
    function nextOf(world: World): World[] {
      return world.walkers.flatMap((walker, i) => {
        const next: World[] = [];
        if (walker.due) next.push(settle(put(world, i, { due: false })));
        const event = LIVES[walker.life]?.[walker.at];
        if (walker.moved || event === undefined) return next;
        const refused = fateOf(STATES[event]) === 'refused';
        const done = put(world, i, { at: walker.at + 1, due: walker.due || refused });
        if (event !== 'claimed' || i === world.opener) return [...next, done];
        // An included message checks the charge before it leaves: the rule is applied, and if the conversation is refunded the included message moves to another one.
        const looked = settle(done);
        return [...next, looked.refunds > 0 ? put(looked, i, { moved: true }) : looked];
      });
    }

    /** Used instead of `expect`, which would be too slow for hundreds of thousands of checks. */
    function hold(right: boolean, what: string, world: World): void {
      if (right) return;
      const lives = world.walkers.map(({ life, at, moved }) => [...(LIVES[life] ?? []).slice(0, at), moved && 'moved']);
      expect.fail(`${what}: ${JSON.stringify({ lives, world })}`);
    }

    /** What the specification of the money demands at every moment. Judged only by what the provider did, not by how we got there. */
    function holdMoment(world: World, before: World): void {
      const inIt = world.walkers.filter(({ moved }) => !moved).map(eventOf);
      hold(world.refunds <= 1, 'given back once', world);
      const surelyNothing = inIt.every(
        (event) => event === undefined || ['refused', 'failed', 'expired', 'back'].includes(event),
      );
      // A message that is delivered after the refund all the same is not charged again.
      if (world.refunds > before.refunds) hold(surelyNothing, 'comes back only when surely nothing was taken', world);
      if (before.refunds === 0) return;
      for (const [i, walker] of world.walkers.entries()) {
        const leaves = walker.at > (before.walkers[i]?.at ?? 0) && eventOf(walker) === 'claimed' && !walker.moved;
        hold(!leaves, 'nothing leaves in what was given back', world);
      }
    }

    /** What must hold after all follow-ups: a conversation stays paid if a message was taken, and is refunded if none was. */
    function holdEnd(world: World): void {
      const inIt = world.walkers.filter(({ moved }) => !moved);
      const taken = inIt.map(eventOf).some((end) => end === 'accepted' || end === 'delivered');
      const contradicted = inIt.some(({ life }) => LIVES[life]?.join().includes('failed,delivered'));
      if (!taken) hold(world.refunds === 1, 'nothing was taken: given back', world);
      else if (!contradicted) hold(world.refunds === 0, 'something was taken: paid', world);
    }

    function keyOf({ walkers, opener, refunds }: World): string {
      return `${opener} ${refunds} ${walkers.map(({ at, moved, due }) => `${at}${moved ? 'm' : ''}${due ? 'o' : ''}`)}`;
    }

    /** Walks through all worlds that can follow. `seen`: the keys of those visited before, for the same lives. */
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
          const walkers = lives.map((life) => ({ life, at: 0, moved: false, due: false }));
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
            const walkers = [1, a, b, c].map((life) => ({ life, at: 0, moved: false, due: false }));
            walkAll({ walkers, opener: 0, refunds: 0 }, new Set());
          }
    });
  });
});
