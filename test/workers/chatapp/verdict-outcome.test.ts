import { expect } from 'chai';
import { applyChange } from '../../../shared/messages/document/change.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { decideOutcome } from '../../../shared/messages/settlement/decide-outcome.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { outcomeOf } from '../../../workers/chatapp/verdict-outcome.ts';
import { makeChatMessage } from './make.ts';

describe('chatapp/verdict-outcome', () => {
  const claim = { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: new Date() };
  const refusal = { code: 'provider_throttled', reason: '(130429) Rate limit hit' };

  /** The message after it was sent so often, and answered so each time. */
  function answered(times: number, kind: 'back_off' | 'customer_delay'): ChatMessageDocument {
    let message = makeChatMessage();
    for (let i = 0; i < times && message.state === 'queued'; i++) {
      const claimed = { ...message, state: 'submitting', claim } as const;
      const change = decideOutcome(
        claimed,
        claim,
        outcomeOf(claimed.account, { kind, ...refusal }, false),
        claim.at,
        0,
      );
      message = change === undefined ? claimed : applyChange(claimed, change);
    }
    return message;
  }

  it('an account that is too fast for hours loses no message: the first in the queue keeps its place', () => {
    expect(answered(1_000, 'back_off')).to.include({ state: 'queued', tries: 0, throttles: 1_000 });
  });

  it('too fast for this customer: twenty times are a try', () => {
    expect(answered(19, 'customer_delay')).to.include({ state: 'queued', tries: 0 });
    expect(answered(20, 'customer_delay')).to.include({ state: 'waiting', tries: 1 });
  });
});
