import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import type { StatusItem } from '../../../shared/messages/chat-inbox.ts';
import { applyChange, type Change } from '../../../shared/messages/document/change.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { Claim } from '../../../shared/messages/document/message.ts';
import { decideOutcome, type SubmitOutcome } from '../../../shared/messages/settlement/decide-outcome.ts';
import { decideByPolicy } from '../../../shared/messages/settlement/unknowns.ts';
import { wasRefused } from '../../../shared/money/conversations/charge.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { decideStatuses } from '../../../workers/chatapp/statuses.ts';
import { makeChatMessage, makeStatus } from './make.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const ACCOUNT = newId('acc');

/** A send's fate at the provider: never arrived, refused at once, or accepted and then delivered or failed. */
type Truth = 'lost' | 'refused' | 'delivered' | 'failed';
type Status = StatusItem['status'];
/** Possible statuses, in order; one may repeat or come late after the final one. */
const TOLD: Readonly<Record<Truth, readonly (readonly Status[])[]>> = {
  lost: [[]],
  refused: [[]],
  delivered: [['delivered'], ['sent', 'delivered']],
  failed: [['failed'], ['sent', 'failed'], ['failed', 'failed'], ['failed', 'sent']],
};
const TRUTHS = ['lost', 'refused', 'delivered', 'failed'] as const;

interface Copy {
  readonly claim: Claim;
  readonly truth: Truth;
  readonly answered: boolean;
  /** Future statuses. */
  readonly statuses: readonly Status[];
}

interface World {
  readonly message: ChatMessageDocument;
  readonly copies: readonly Copy[];
  readonly trace: readonly string[];
}

function copiesOf(): Copy[] {
  return TRUTHS.flatMap((truth) =>
    TOLD[truth].map((statuses) => ({
      claim: { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: NOW },
      ...{ truth, statuses, answered: truth === 'lost' },
    })),
  );
}

function idOf(index: number): string {
  return `wamid.${index}`;
}

function answerOf({ truth }: Copy, index: number): SubmitOutcome {
  return truth === 'refused'
    ? { kind: 'rejected', parts: [{ state: 'refused' }], code: 'x', reason: 'y' }
    : { kind: 'sent', parts: [{ key: chatMessageKey(ACCOUNT, idOf(index)), state: 'accepted' }] };
}

function changed(world: World, what: string, change: Change | undefined, copies = world.copies): World {
  const message = change === undefined ? world.message : applyChange(world.message, change);
  return { message, copies, trace: [...world.trace, `${what}: ${message.state}`] };
}

/** All next steps: the answer to a copy, or its next status. */
function news(world: World): World[] {
  return world.copies.flatMap((copy, i) => {
    const next: World[] = [];
    const put = (now: Partial<Copy>): readonly Copy[] => world.copies.with(i, { ...copy, ...now });
    if (!copy.answered) {
      const change = decideOutcome(world.message, copy.claim, answerOf(copy, i), NOW, 0.5);
      next.push(changed(world, `answer ${i} (${copy.truth})`, change, put({ answered: true })));
    }
    const [status, ...statuses] = copy.statuses;
    if (status !== undefined) {
      const item = makeStatus({ upstreamId: idOf(i), status, at: NOW });
      next.push(changed(world, `status ${i} ${status}`, decideStatuses(world.message, [item], NOW), put({ statuses })));
    }
    return next;
  });
}

/** The worker's acts without news: it stops waiting, decides by the policy, or sends again (once). */
function work(world: World, seconds: readonly Copy[]): World[] {
  const { message, copies } = world;
  const current = copies.at(-1)?.claim;
  if (message.state === 'submitting' && message.outcome === undefined && current !== undefined) {
    const unknown = { kind: 'unknown', parts: [{ state: 'unknown' }] } as const;
    return [changed(world, 'no answer', decideOutcome(message, current, unknown, NOW, 0.5))];
  }
  if (message.state === 'submitting') {
    return [changed(world, 'policy', decideByPolicy(message, copies.length === 1 ? 'resend' : 'assume_sent', NOW))];
  }
  if (message.state !== 'queued') return [];
  return seconds.map((copy) =>
    changed(world, 'sent again', { state: 'submitting', set: { claim: copy.claim } }, [...copies, copy]),
  );
}

function holdMoment({ message, copies, trace }: World): void {
  const isTaken = copies.some(({ truth }) => truth === 'delivered');
  if (isTaken && wasRefused(message)) expect.fail(`given back though taken: ${trace.join(', ')}`);
}

function holdEnd({ message, copies, trace }: World): void {
  const what = trace.join(', ');
  if (message.state === 'queued' || message.state === 'submitting') expect.fail(`it hangs: ${what}`);
  if (copies.some(({ truth }) => truth === 'delivered') && message.state !== 'delivered') {
    expect.fail(`not told as delivered: ${what}`);
  }
  if (copies.length === 1 && copies[0]?.truth === 'failed' && !wasRefused(message)) {
    expect.fail(`not given back: ${what}`);
  }
}

describe('a chat-app message that is sent again', () => {
  for (const first of copiesOf()) {
    it(`first ${first.truth} (${first.statuses.join(', then ')}), whatever becomes of the second, in every order`, () => {
      const seconds = copiesOf();
      const message = makeChatMessage({ account: ACCOUNT, state: 'submitting', claim: first.claim, history: [] });
      const open: World[] = [{ message, copies: [first], trace: [] }];
      let ends = 0;
      for (let world = open.pop(); world !== undefined; world = open.pop()) {
        holdMoment(world);
        const next = [...news(world), ...work(world, seconds)];
        if (next.length === 0) {
          holdEnd(world);
          ends += 1;
        }
        open.push(...next);
      }
      expect(ends).to.be.greaterThan(0);
    });
  }
});
