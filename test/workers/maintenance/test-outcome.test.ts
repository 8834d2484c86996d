import { readFileSync } from 'node:fs';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { applyChange } from '../../../shared/messages/document/change.ts';
import { queuedMessage } from '../../../shared/messages/document/message.ts';
import { isRefundable } from '../../../shared/money/ledger/change.ts';
import { newId, testAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { decideDue } from '../../../workers/maintenance/settle-due.ts';
import { TEST_OUTCOMES } from '../../../workers/maintenance/test-outcome.ts';
import { makeDraft } from '../../support/make.ts';
import { makeChatMessage } from '../chatapp/make.ts';

describe('what becomes of test messages', () => {
  it('is listed in docs/magic-numbers.md as it is in code', () => {
    const page = readFileSync(new URL('../../../docs/magic-numbers.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| …(\d{3}) +\| (.+?) +\|$/gm)].map(([, ending, meaning]) => [ending, meaning]);

    const outcomes = [...TEST_OUTCOMES.sms, ...TEST_OUTCOMES.chatapp];
    expect(rows).to.deep.equal(outcomes.map(({ ending, meaning }) => [ending, meaning]));
  });

  for (const [ending, states, refunded] of [
    ['999', ['sent', 'delivered'], false],
    ['101', ['sent', 'failed'], false],
    ['102', ['sent', 'expired'], false],
    ['103', ['sent', 'rejected'], false],
    ['104', ['sent', 'delivered'], false],
    ['106', ['sent'], false],
    ['107', ['sent', 'delivered'], false],
    ['108', ['rejected'], true],
    ['114', ['sent', 'failed'], false],
  ] as const) {
    it(`SMS to …${ending}: ${states.join(', then ')}, whoever looks at it and how often`, () => {
      const draft = makeDraft({ to: `919876543${ending}`, validUntil });
      const message = ended(queuedMessage(account, newId('grp'), draft));

      expect(message.history.map(({ state }) => state)).to.deep.equal(states);
      expect(isRefundable(message)).to.equal(refunded);
    });
  }

  for (const [ending, states, code] of [
    ['999', ['sent', 'delivered', 'read']],
    ['301', ['sent', 'failed'], 131_026],
    ['302', ['rejected'], 131_026],
    ['303', ['rejected'], 131_047],
    ['304', ['sent', 'delivered']],
    ['307', ['sent', 'read']],
    ['313', ['sent']],
    ['314', ['sent', 'failed', 'delivered']],
    ['315', ['sent', 'failed'], 131_053],
    ['317', ['rejected'], 132_015],
    ['318', ['sent', 'delivered']],
    ['319', ['rejected'], 130_497],
  ] as const) {
    it(`chat-app to …${ending}: ${states.join(', then ')}`, () => {
      const queued = makeChatMessage({ account, to: `919876543${ending}`, due: new Date(), validUntil });
      const { history, errorReason } = ended(queued);

      expect(history.map(({ state }) => state)).to.deep.equal(states);
      expect(errorReason?.slice(0, 8)).to.equal(code && `(${code})`);
    });
  }

  const account = testAccountOf(newId('acc'));
  const validUntil = new Date(Date.now() + 3_600_000);

  /** Its end, after looks at each time for which it is due. */
  function ended(queued: AnyMessage): AnyMessage {
    let [message, at] = [queued, new Date()];
    while (message.due !== undefined && message.due < validUntil) {
      if (message.due > at) at = message.due;
      message = applyChange(message, decideDue(message, at));
    }
    return message;
  }
});
