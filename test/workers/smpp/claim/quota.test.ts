import { expect } from 'chai';
import type { MessageDocument } from '../../../../shared/messages/message.ts';
import type { AccountId } from '../../../../shared/runtime/ids.ts';
import { Quotas } from '../../../../workers/smpp/claim/quota.ts';
import { makeMessage } from '../../../support/make.ts';

const account = (letter: string): AccountId => `acc_${letter}`;
const backlog = (letter: string, count: number): MessageDocument[] =>
  Array.from({ length: count }, () => makeMessage({ account: account(letter) }));
const letters = (messages: readonly MessageDocument[]): string =>
  messages.map((message) => message.account.slice(-1)).join('');

describe('Quotas', () => {
  let quotas: Quotas<'account'>;
  beforeEach(() => {
    quotas = new Quotas('account');
  });
  const claim = (text: string): void => {
    for (const letter of text) quotas.claimed(makeMessage({ account: account(letter) }));
  };

  it('gives equal accounts their quotas as they were read, and the rest to who has more', () => {
    const read = [...backlog('a', 7), ...backlog('b', 3), ...backlog('c', 5)];

    expect(letters(quotas.inRounds(read, 3))).to.equal('aaabbbcccaaacca');
  });

  it('keeps the order of each account, and loses nothing', () => {
    const [a, b] = [backlog('a', 6), backlog('b', 4)];

    const ordered = quotas.inRounds([...a, ...b], 2);

    expect(ordered.filter((message) => message.account === account('a'))).to.deep.equal(a);
    expect(ordered.filter((message) => message.account === account('b'))).to.deep.equal(b);
  });

  it('lets the account go first that had its quota cut off', () => {
    claim('aaabb');

    expect(letters(quotas.inRounds([...backlog('a', 6), ...backlog('b', 6)], 3))).to.equal('bbbaaabbbaaa');
  });

  it('owes a newcomer nothing for the time before', () => {
    claim('aaaaaaaaaa');
    quotas.inRounds(backlog('a', 3), 3);
    claim('a');

    expect(letters(quotas.inRounds([...backlog('a', 6), ...backlog('n', 6)], 3))).to.equal('nnnaaannnaaa');
  });

  it('owes an account nothing for the time in which it had no messages', () => {
    claim('aabb');
    quotas.inRounds(backlog('a', 1), 3);
    claim('aaaaaa');
    quotas.inRounds(backlog('a', 1), 3);

    expect(letters(quotas.inRounds([...backlog('a', 4), ...backlog('b', 4)], 2))).to.equal('aabbaabb');
  });

  it('takes nothing for nothing', () => {
    expect(quotas.inRounds([], 3)).to.deep.equal([]);
  });
});
