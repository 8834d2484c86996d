import { expect } from 'chai';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { type News, SendHealth } from '../../../workers/chatapp/send-health.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { makeChatMessage } from './make.ts';

describe('SendHealth', () => {
  let clock: ManualClock;
  let health: SendHealth;
  beforeEach(() => {
    clock = new ManualClock();
    health = new SendHealth(clock, () => 1);
  });

  /** A message that leaves now. */
  const leave = (): ChatMessageDocument => {
    const message = makeChatMessage({ claim: { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at: clock.now() } });
    health.begin(message._id);
    return message;
  };
  const tell = (...all: readonly News[]): void => {
    for (const news of all) health.noteNews(leave(), news);
  };
  const fail = (times: number): void => tell(...Array.from({ length: times }, () => 'account' as const));

  it('one that went well in between counts from the beginning, one that says nothing does not', () => {
    fail(4);
    tell('good');
    fail(4);
    expect(health.state).to.equal('good');

    tell('other');
    fail(1);

    expect(health.state).to.equal('paused');
  });

  it('hears no failure of a message that left before one that went well, or before the run began', () => {
    const before = Array.from({ length: 9 }, leave);
    clock.turn(1_000);
    tell('good');
    for (const message of before) health.noteNews(message, 'account');
    expect(health.state).to.equal('good');

    health = new SendHealth(clock, () => 1);
    for (const message of before) health.noteNews(message, 'account');

    expect(health.state).to.equal('good');
  });

  it('a reading of what left before the trouble hides no failure', () => {
    const before = leave();
    clock.turn(1_000);
    fail(4);
    health.noteNews(before, 'good');
    fail(1);

    expect(health.state).to.equal('paused');
  });

  it('waits twice as long after each trial that failed, five minutes at most', () => {
    fail(5);
    const pauses: number[] = [];
    for (let i = 0; i < 6; i++) {
      clock.turn(health.waitMs);
      fail(1);
      pauses.push(health.waitMs);
    }

    expect(pauses).to.deep.equal([60_000, 120_000, 240_000, 300_000, 300_000, 300_000]);
  });

  it('tries another one when the first says nothing', () => {
    fail(5);
    clock.turn(30_000);
    tell('other');

    expect([health.state, health.room]).to.deep.equal(['trying', 1]);
  });

  it('lets all go when nothing is told of the trial, and pauses for longer if they fail again', () => {
    fail(5);
    clock.turn(30_000);
    leave();
    clock.turn(30_000);
    expect(health.room).to.equal(Number.POSITIVE_INFINITY);

    fail(5);

    expect(health.waitMs).to.equal(60_000);
  });
});
