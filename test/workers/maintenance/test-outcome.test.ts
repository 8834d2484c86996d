import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { applyChange } from '../../../shared/messages/document/change.ts';
import { queuedMessage } from '../../../shared/messages/document/draft.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { isRefundable } from '../../../shared/money/ledger/refund.ts';
import { newId, testAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { decideDue } from '../../../workers/maintenance/decide-due.ts';
import { TEST_OUTCOMES } from '../../../workers/maintenance/test-outcome.ts';
import { makeDraft } from '../../support/make.ts';

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
  ] as const) {
    it(`…${ending} is ${states.join(', then ')}, whoever looks at it and how often`, () => {
      const validUntil = new Date(Date.now() + 3_600_000);
      let at = new Date();
      const draft = makeDraft({ to: `919876543${ending}`, validUntil });
      let message: MessageDocument = queuedMessage(testAccountOf(newId('acc')), newId('grp'), draft);
      while (message.due !== undefined && message.due < validUntil) {
        at = message.due > at ? message.due : at;
        message = applyChange(message, decideDue(message, at));
      }

      expect(message.history.map(({ state }) => state)).to.deep.equal(states);
      expect(isRefundable(message)).to.equal(refunded);
    });
  }
});
