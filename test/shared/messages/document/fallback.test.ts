import type { Fallback } from '../../../../shared/messages/document/chat-message.ts';
import { withFallback } from '../../../../shared/messages/document/fallback.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeChatMessage } from '../../../workers/chatapp/make.ts';

const AT = new Date('2026-11-29T10:00:00.000Z');
const LATER = new Date('2026-11-29T10:01:00.000Z');
const sms = { sender: 'HARKRA', route: 'transactional', lane: 1, text: 'Hi', encoding: 'GSM7', segments: 1 } as const;
const waits: Fallback = { afterSeconds: 30, sms: { ...sms, credits: 1 }, due: AT };
const decided = { ...waits, decided: { at: AT, because: 'not_delivered' } } as const;
const { due: _, ...over } = decided;

describe('withFallback: a message that the provider returns for a retry', () => {
  const CASES: readonly (readonly [what: string, fallback: Fallback, state: string])[] = [
    ['waits while its SMS is not due', waits, 'waiting'],
    ['does not leave again when its SMS goes', decided, 'expired'],
    ['nor when its SMS has gone', { ...over, ended: { kind: 'sent', message: newId('msg') } }, 'expired'],
    [
      'waits when its SMS was refused: nothing else goes',
      { ...over, ended: { kind: 'refused', code: 'insufficient_credits', reason: 'No credits.' } },
      'waiting',
    ],
  ];
  for (const [what, fallback, state] of CASES) {
    it(what, () => {
      const message = makeChatMessage({ state: 'submitting', fallback });
      const retry = { state: 'waiting', set: { due: LATER } } as const;

      expect(withFallback(message, retry).state).to.equal(state);
    });
  }
});
