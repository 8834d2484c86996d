import { isHeldOpen, MAX_COPIES, UNCONFIRMED } from '../../../../shared/messages/document/copies.ts';
import type { Part } from '../../../../shared/messages/document/message.ts';
import { isRefundable } from '../../../../shared/money/ledger/change.ts';
import { FATES, type Fate, orders, play, SECOND, World } from './resend-world.ts';

describe('a message that is sent again', () => {
  for (const carriers of [['c', 'c'] as const, ['c', 'd'] as const]) {
    describe(carriers[0] === carriers[1] ? 'by the same carrier' : 'by another carrier', () => {
      for (const first of FATES) {
        for (const second of SECOND) {
          const name = (fate: Fate): string =>
            `${fate.taken ? 'taken' : 'not taken'}, answer ${fate.answer}, receipt ${fate.receipt}`;
          it(`first ${name(first)}; second ${name(second)}`, () => {
            for (const order of orders(first, second)) {
              const world = play(carriers, first, second, order);
              const { message, submitted } = world;
              const what = order.join(' ');
              const copies = submitted === 2 ? [first, second] : [first];
              const states = message.history.map(({ state }) => state);
              expect(new Set(states).size, `${what}: each event once`).to.equal(states.length);
              if (copies.some(({ receipt }) => receipt === 'delivered')) {
                expect(message.state, what).to.equal('delivered');
              } else if (copies.some(({ answer, receipt }) => answer === 'ok' || receipt !== 'none')) {
                expect(message.state, what).to.be.oneOf(['sent', 'failed', 'rejected']);
                expect(states[0], what).to.equal('sent');
              } else if (copies.every(({ answer }) => answer !== 'ok' && answer !== 'never')) {
                // Every copy was refused, and every refusal is known.
                expect(message.state, what).to.be.oneOf(['rejected', 'expired']);
                expect(isRefundable(message), what).to.equal(true);
              } else {
                expect(isRefundable(message), what).to.equal(false);
              }
            }
          });
        }
      }
    });
  }

  it('the second is refused and nothing more comes: it waits, then fails, and says why it is not refunded', () => {
    const world = new World(['c', 'c']);
    world.timeout(0);
    world.policy('resend');
    world.claim(1);
    world.answer(1, 'refused');
    const waiting = world.message;
    world.end();

    expect(isHeldOpen(waiting)).to.equal(true);
    expect(waiting).to.include({ state: 'submitting', outcome: 'unknown', errorCode: '0x0B' });
    expect(world.message).to.include({ state: 'failed', errorCode: UNCONFIRMED });
    expect(world.message.errorReason).to.match(/refused \(0x0B: Invalid destination address\).*not refunded/);
    expect(world.message).not.to.have.any.keys('outcome', 'due');
    world.receipt(0, 'delivered');
    expect(world.message).to.include({ state: 'delivered' });
    expect(world.message).not.to.have.any.keys('errorCode', 'errorReason');
  });

  it('its validity ends while it waits to be sent again: expired, not refunded, and a receipt may still say delivered', () => {
    const world = new World(['c', 'c']);
    world.timeout(0);
    world.policy('resend');
    world.end();

    expect(world.message).to.include({ state: 'expired', errorCode: UNCONFIRMED });
    expect(isRefundable(world.message)).to.equal(false);
    world.receipt(0, 'delivered');
    expect(world.message.state).to.equal('delivered');
  });

  it('refused as it is about to leave again (its batch was stopped): it waits for the first copy, and is not refunded', () => {
    const world = new World(['c', 'c']);
    world.timeout(0);
    world.policy('resend');
    world.claim(1);
    world.refuse({ code: 'cancelled', reason: 'The batch was stopped' });
    const waiting = world.message;
    world.answer(0, 'ok');

    expect(isHeldOpen(waiting)).to.equal(true);
    expect(isRefundable(waiting)).to.equal(false);
    expect(world.message).to.include({ state: 'sent' });
    expect(world.message).not.to.have.any.keys('errorCode', 'outcome', 'earlier');
  });

  it('is not sent for ever: after a few copies without an answer it fails', () => {
    const world = new World(['c', 'c']);
    let copies = 0;
    for (; world.message.state === 'submitting' || world.message.state === 'queued'; copies++) {
      world.claim(1);
      world.timeout(copies === 0 ? 0 : 1);
      world.policy('resend');
    }

    expect(copies).to.equal(MAX_COPIES);
    expect(world.message).to.include({ state: 'failed', errorCode: UNCONFIRMED });
  });

  it('of two unknown copies at one carrier a guessed id goes to the copy whose answer names it', () => {
    const world = new World(['c', 'c']);
    world.timeout(0);
    world.policy('resend');
    world.claim(1);
    world.timeout(1);
    world.receipt(1, 'failed');
    const guessed = world.message.earlier?.[0]?.parts;
    world.answer(1, 'ok');

    expect(guessed).to.deep.equal([{ key: 'c:1', state: 'failed' }] satisfies Part[]);
    expect(world.message.earlier?.[0]?.parts).to.deep.equal([{ state: 'unknown' }] satisfies Part[]);
    expect(world.message).to.deep.include({ state: 'failed', parts: [{ key: 'c:1', state: 'failed' }] });
  });
});
