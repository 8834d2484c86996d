import fc from 'fast-check';
import { PriceList } from '../../../shared/carriers/providers/price-list.ts';
import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import type { StatusItem } from '../../../shared/messages/chat-inbox.ts';
import { applyChange } from '../../../shared/messages/document/change.ts';
import type { ChatMessageDocument, Pricing } from '../../../shared/messages/document/chat-message.ts';
import { mayHaveLeft } from '../../../shared/messages/document/copies.ts';
import { decideOutcome } from '../../../shared/messages/settlement/decide-outcome.ts';
import { decideByPolicy } from '../../../shared/messages/settlement/unknowns.ts';
import { wasRefused } from '../../../shared/money/conversations/charge.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { outcomeOf } from '../../../workers/chatapp/send-message.ts';
import { decideStatuses } from '../../../workers/chatapp/statuses.ts';
import { makeChatMessage, makeStatus } from './make.ts';

type Name = StatusItem['status'];
const NOW = new Date('2026-11-21T10:00:00Z');
const ACCOUNT = newId('acc');
const KEY = chatMessageKey(ACCOUNT, 'wamid.1');
const CLAIM = { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: new Date('2026-11-21T09:59:00Z') };

function at(seconds: number): Date {
  return new Date(NOW.getTime() - 30_000 + seconds * 1_000);
}

/** Each a second after the one before. */
function told(...names: readonly Name[]): StatusItem[] {
  return names.map((status, i) => makeStatus({ status, at: at(i) }));
}

const sent = (overrides: Partial<ChatMessageDocument> = {}): ChatMessageDocument =>
  makeChatMessage({
    account: ACCOUNT,
    state: 'sent',
    claim: CLAIM,
    parts: [{ key: KEY, state: 'accepted' }],
    history: [{ state: 'sent', at: CLAIM.at }],
    ...overrides,
  });

function settled(message: ChatMessageDocument, statuses: readonly StatusItem[], now = NOW): ChatMessageDocument {
  const change = decideStatuses(message, statuses, now);
  return change === undefined ? message : applyChange(message, change);
}

function states({ history }: ChatMessageDocument): string[] {
  return history.map((entry) => entry.state);
}

describe('decideStatuses', () => {
  const ORDERS: readonly (readonly [statuses: readonly Name[], state: string, history: readonly string[]])[] = [
    [['sent'], 'sent', ['sent']],
    [['delivered'], 'delivered', ['sent', 'delivered']],
    [['sent', 'delivered', 'read'], 'read', ['sent', 'delivered', 'read']],
    [['read'], 'read', ['sent', 'read']],
    [['read', 'delivered'], 'read', ['sent', 'read']],
    [['failed'], 'failed', ['sent', 'failed']],
    [['failed', 'delivered'], 'delivered', ['sent', 'failed', 'delivered']],
    [['failed', 'read'], 'read', ['sent', 'failed', 'read']],
    [['delivered', 'failed'], 'delivered', ['sent', 'delivered']],
    [['delivered', 'delivered'], 'delivered', ['sent', 'delivered']],
  ];
  for (const [statuses, state, history] of ORDERS) {
    it(`${statuses.join(', then ')}: the message is ${state}, together and one by one`, () => {
      const together = settled(sent(), told(...statuses));
      const oneByOne = told(...statuses).reduce((message, status) => settled(message, [status]), sent());

      for (const message of [together, oneByOne]) {
        expect(message.state).to.equal(state);
        expect(states(message)).to.deep.equal(history);
      }
    });
  }

  it('goes by the provider’s times, not by the order of arrival', () => {
    const shuffled = told('sent', 'delivered', 'read').reverse();

    expect(states(settled(sent(), shuffled))).to.deep.equal(['sent', 'delivered', 'read']);
  });

  it('says when it was delivered, by the provider’s clock where that can be', () => {
    expect(settled(sent(), told('delivered')).deliveredAt).to.deep.equal(at(0));
    const early = makeStatus({ at: new Date(0) });
    const late = makeStatus({ at: new Date('2999-01-01') });

    expect(settled(sent(), [early]).deliveredAt).to.deep.equal(CLAIM.at);
    expect(settled(sent(), [late]).deliveredAt).to.deep.equal(NOW);
  });

  it('what was read without having been delivered was delivered then', () => {
    expect(settled(sent(), told('read'))).to.deep.include({ state: 'read', deliveredAt: at(0) });
  });

  it('a failure has our name for it, the provider’s code and words', () => {
    const error = { code: 131_047, title: 'Re-engagement message', details: 'More than 24 hours have passed' };

    expect(settled(sent(), [makeStatus({ status: 'failed', error })])).to.deep.include({
      state: 'failed',
      errorCode: 'session_closed',
      errorReason: '(131047) More than 24 hours have passed',
      parts: [{ key: KEY, state: 'refused', error: 'session_closed' }],
    });
  });

  it('a failure with a code that we do not know, or none, says so', () => {
    const error = { code: 777, title: 'Something new' };

    expect(settled(sent(), [makeStatus({ status: 'failed', error })])).to.include({
      errorCode: 'provider_refused',
      errorReason: '(777) Something new',
    });
    expect(settled(sent(), told('failed'))).to.include({ errorCode: 'provider_refused' });
  });

  it('what is delivered after all has no error and is not due any more', () => {
    const message = settled(sent(), told('failed', 'delivered'));

    expect(message).not.to.have.any.keys('errorCode', 'errorReason', 'due', 'outcome');
  });

  it('a failure is not undone after 72 hours', () => {
    const failed = settled(sent(), told('failed'));
    const muchLater = new Date(NOW.getTime() + 73 * 3_600_000);

    expect(decideStatuses(failed, told('delivered'), muchLater)).to.equal(undefined);
  });

  it('keeps what the provider says of the price, and what the price list makes of it once it is delivered', () => {
    const list = new PriceList({
      currency: 'USD',
      prices: [
        { category: 'service', price: '0.0014' },
        { market: 'IN', category: 'service', price: '0.0012' },
        { market: '9198', category: 'service', price: '0.0011' },
        { market: 'BR', category: 'marketing', price: '0.0625' },
      ],
    });
    const cases: readonly (readonly [to: string, pricing: Pricing, cost: string | undefined])[] = [
      ['919876543210', { billable: true, model: 'PMP', type: 'regular', category: 'service' }, '0.0011 USD'],
      ['919776543210', { category: 'service' }, '0.0012 USD'],
      ['4915112345678', { type: 'of_2027', category: 'service' }, '0.0014 USD'],
      ['BR.13491208655302741918', { billable: true, category: 'marketing' }, '0.0625 USD'],
      ['919876543210', { billable: false, category: 'service' }, undefined],
      ['919876543210', { type: 'free_entry_point', category: 'service' }, undefined],
      ['919876543210', { billable: true, category: 'marketing' }, undefined],
      ['919876543210', { billable: true }, undefined],
    ];
    for (const [to, pricing, cost] of cases) {
      const message = sent({ to });
      const told = makeStatus({ upstreamId: 'wamid.1', status: 'delivered', at: at(1), pricing });
      const change = decideStatuses(message, [told], NOW, (one, number) => list.costOf(one, number));
      expect(change?.set).to.deep.include({ pricing, ...(cost && { cost }) });
      expect(change?.set?.cost).to.equal(cost);
      const failed = decideStatuses(message, [{ ...told, status: 'failed' }], NOW, () => '1 USD');
      expect(failed?.set).to.deep.include({ pricing }).and.not.to.have.property('cost');
      // Each status repeats it: it alone causes no write.
      expect(decideStatuses(message, [{ ...told, status: 'sent' }], NOW)).to.equal(undefined);
    }
  });

  for (const state of ['submitting', 'queued', 'waiting'] as const) {
    it(`settles a send whose answer never came and that is ${state}, and knows its id from then on`, () => {
      const unknown = makeChatMessage({
        account: ACCOUNT,
        state,
        claim: CLAIM,
        outcome: 'unknown',
        parts: [{ state: 'unknown' }],
      });

      const message = settled(unknown, told('delivered'));

      expect(message).to.deep.include({ state: 'delivered', parts: [{ key: KEY, state: 'delivered' }] });
      expect(states(message)).to.deep.equal(['sent', 'delivered']);
      expect(message).not.to.have.property('outcome');
    });
  }

  it('`sent` settles it too', () => {
    const unknown = makeChatMessage({ account: ACCOUNT, state: 'submitting', claim: CLAIM, outcome: 'unknown' });

    expect(settled(unknown, told('sent'))).to.deep.include({ state: 'sent', parts: [{ key: KEY, state: 'accepted' }] });
  });

  it('tells the id of a message that was assumed to be sent', () => {
    const assumed = sent({ parts: [{ state: 'unknown' }] });

    expect(settled(assumed, told('sent')).parts).to.deep.equal([{ key: KEY, state: 'accepted' }]);
  });

  it('of a message that was sent twice, only good news of the other try counts', () => {
    const twice = sent({ parts: [{ key: chatMessageKey(ACCOUNT, 'wamid.2'), state: 'accepted' }] });

    expect(decideStatuses(twice, told('failed'), NOW)).to.equal(undefined);
    expect(decideStatuses(twice, told('sent'), NOW)).to.equal(undefined);
    expect(settled(twice, told('delivered')).state).to.equal('delivered');
  });

  it('of a message that was sent twice, both tries may be told of together, in any order', () => {
    const twice = sent({ parts: [{ key: chatMessageKey(ACCOUNT, 'wamid.2'), state: 'accepted' }] });
    const first = makeStatus({ upstreamId: 'wamid.1', status: 'sent', at: at(0) });
    const second = makeStatus({ upstreamId: 'wamid.2', status: 'failed', at: at(1) });

    for (const statuses of [[first, second], [second, first], [second]]) {
      expect(settled(twice, statuses).state).to.equal('failed');
    }
  });

  describe('of a message that was sent again, its first send still in doubt', () => {
    const earlier = [{ ...CLAIM, id: newId('clm'), parts: [{ state: 'unknown' as const }] }];
    const again = (overrides: Partial<ChatMessageDocument>): ChatMessageDocument =>
      makeChatMessage({ account: ACCOUNT, claim: CLAIM, earlier, history: [], ...overrides });
    const heldOpen = again({
      ...{ state: 'submitting', outcome: 'unknown', parts: [{ state: 'refused' }] },
      ...{ errorCode: 'provider_refused', errorReason: 'x' },
    });

    for (const [what, message] of [
      ['queued', again({ state: 'queued' })],
      ['refused', heldOpen],
    ] as const) {
      it(`${what}: the first failed too, so nothing was taken`, () => {
        const after = settled(message, told('failed', 'failed'));

        expect(after.state).to.equal('failed');
        expect(after).not.to.have.any.keys('outcome', 'due');
        expect(wasRefused(after)).to.equal(true);
      });

      it(`${what}: the first was taken`, () => {
        const after = settled(message, told('sent'));

        expect(after.state).to.equal('sent');
        expect(after).not.to.have.any.keys('outcome', 'errorCode');
        expect(wasRefused(after)).to.equal(false);
      });
    }

    it('under way: a failure of the first does not end it', () => {
      const after = settled(again({ state: 'submitting' }), told('failed'));

      expect(after.state).to.equal('submitting');
      expect(mayHaveLeft(after)).to.equal(false);
    });

    it('under way: the same failure again, or the first’s `sent` that comes late, is of the first still', () => {
      for (const late of ['failed', 'sent'] as const) {
        const after = settled(settled(again({ state: 'submitting' }), told('failed')), told(late));

        expect(after.state, late).to.equal('submitting');
        expect(wasRefused(after), late).to.equal(false);
      }
    });

    for (const [what, message] of [
      ['queued', again({ state: 'queued' })],
      ['refused', heldOpen],
    ] as const) {
      it(`${what}: the first was taken, and failed later: nothing is in doubt any more`, () => {
        const after = settled(settled(message, told('sent')), told('failed'));

        expect(after.state).to.equal('failed');
        expect(wasRefused(after)).to.equal(true);
      });
    }

    it('the second failed before the first did: then nothing was taken', () => {
      const second = makeStatus({ upstreamId: 'wamid.2', status: 'failed' });
      const failed = settled(again({ state: 'submitting', parts: [{ key: KEY, state: 'accepted' }] }), told('failed'));
      expect(wasRefused(failed)).to.equal(false);

      expect(wasRefused(settled(failed, [second]))).to.equal(true);
    });

    it('that failed after a late answer had told its id: it never was', () => {
      const first = [{ ...CLAIM, id: newId('clm'), parts: [{ key: KEY, state: 'accepted' as const }] }];
      const second = [{ key: chatMessageKey(ACCOUNT, 'wamid.2'), state: 'refused' as const }];

      const after = settled(again({ state: 'failed', earlier: first, parts: second }), told('failed'));

      expect(wasRefused(after)).to.equal(true);
    });

    it('ended as unconfirmed, and the first failed after all: it says so', () => {
      const change = decideByPolicy(heldOpen, 'resend', NOW);
      const after = settled(change === undefined ? heldOpen : applyChange(heldOpen, change), told('failed'));

      expect(after).to.include({ state: 'failed', errorCode: 'provider_refused' });
      expect(wasRefused(after)).to.equal(true);
    });

    it('refused, and nothing comes of the first: not given back', () => {
      const change = decideByPolicy(heldOpen, 'resend', NOW);
      const after = change === undefined ? heldOpen : applyChange(heldOpen, change);

      expect(after).to.include({ state: 'failed', errorCode: 'unconfirmed' });
      expect(wasRefused(after)).to.equal(false);
    });
  });

  it('a rejected message stays rejected', () => {
    expect(decideStatuses(sent({ state: 'rejected' }), told('delivered', 'failed'), NOW)).to.equal(undefined);
  });

  it('in any order and any groups: no state twice, nothing backwards, and read when it was read', () => {
    const names: readonly Name[] = ['sent', 'delivered', 'read', 'failed'];
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.record({ status: fc.constantFrom(...names), second: fc.nat(20) }), { maxLength: 4 }), {
          maxLength: 6,
        }),
        fc.constantFrom('sent', 'submitting'),
        (groups, state) => {
          const first = state === 'sent' ? sent() : makeChatMessage({ state, claim: CLAIM, outcome: 'unknown' });

          const last = groups.reduce(
            (message, group) =>
              settled(
                message,
                group.map(({ status, second }) => makeStatus({ status, at: at(second) })),
              ),
            first,
          );

          const reached = states(last);
          expect(new Set(reached).size).to.equal(reached.length);
          const ranks = ['sent', 'failed', 'delivered', 'read'];
          expect(reached).to.deep.equal(reached.toSorted((a, b) => ranks.indexOf(a) - ranks.indexOf(b)));
          if (groups.flat().some(({ status }) => status === 'read')) expect(last.state).to.equal('read');
          if (reached.length > 0) expect(last.state).to.equal(reached.at(-1));
        },
      ),
    );
  });
});

describe('chatapp/send-message: outcomeOf', () => {
  const claim = { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: new Date() };
  const refusal = { code: 'provider_throttled', reason: '(130429) Rate limit hit' };

  /** The message after that many sends, each with this answer. */
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
