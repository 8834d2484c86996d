import { type Smsc, startSmsc } from '../../../../scripts/simulator/smsc.ts';
import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import type { Clock } from '../../../../shared/platform/runtime/clock.ts';
import { Bind, type BindState, type BindUser } from '../../../../workers/smpp/session/bind.ts';
import { smppWire } from '../../../../workers/smpp/session/wire.ts';
import { eventually } from '../../../support/eventually.ts';
import { keepLines } from '../../../support/log-lines.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const ROUNDS = 8;

describe('smpp worker: a bind that is lost', () => {
  let smsc: Smsc;
  let bind: Bind<never> | undefined;
  const { random } = Math;
  afterEach(async () => {
    Math.random = random;
    await bind?.stop(0);
    bind = undefined;
    await smsc.close();
  });

  const clock = new ManualClock();
  let { log, lines } = keepLines();
  const states: BindState[] = [];
  /** Whether the user has a session, by the state reported next. */
  const withSession = new Map<BindState, boolean>();
  let hasSession = false;
  beforeEach(() => {
    ({ log, lines } = keepLines());
    states.length = 0;
    withSession.clear();
  });
  const waits = (): number[] =>
    lines.flatMap(({ event, fields }) => (event === 'bind_waits' ? [Number(fields.wait_ms)] : []));
  const bound = (): number => states.filter((state) => state === 'bound').length;
  const start = (carrier: Partial<CarrierDocument> = {}, time: Clock = clock, by: BindUser<never> = user): void => {
    const whole = {
      ...CARRIER_DEFAULTS,
      ...{ _id: 'c', name: 'C', host: '127.0.0.1', port: smsc.port, systemId: 'x', createdAt: clock.now() },
      password: '',
      ...carrier,
    };
    const delivers = { take: async () => {} };
    const wire = smppWire<never>({ carrier: whole, password: '', clock: time, delivers, mayWrite: () => true });
    bind = new Bind<never>({ carrier: whole, wire, index: 0, clock: time, log });
    bind.start(by);
  };
  const user: BindUser<never> = {
    onSession: (session) => {
      hasSession = session?.open === true;
    },
    onState: (state) => {
      states.push(state);
      withSession.set(state, hasSession);
    },
    onAnswer: () => true,
    onTimeout: () => {},
    onLost: () => {},
    unanswered: () => 0,
  };

  it('idle and reset every 20 s: it is bound again within a second, however often', async () => {
    smsc = await startSmsc();
    start();
    for (let round = 1; round <= ROUNDS; round++) {
      await eventually(() => bound() === round, `bound for the ${round}th time`);
      clock.turn(20_000);
      smsc.resetSessions();
      await eventually(() => waits().length === round, 'it waits');
    }

    expect(Math.max(...waits())).to.be.at.most(1_000);
  });

  it('bound and reset at once: the wait grows to a few seconds and no longer', async () => {
    Math.random = () => 1; // the longest waits
    smsc = await startSmsc();
    start();
    for (let round = 1; round <= 4; round++) {
      await eventually(() => bound() === round, `bound for the ${round}th time`);
      smsc.resetSessions();
      await eventually(() => waits().length === round, 'it waits');
    }

    expect(waits()).to.deep.equal([1_000, 2_000, 4_000, 5_000]);
  });

  it('lends its session for as long as it is bound', async () => {
    smsc = await startSmsc();
    start();
    await eventually(() => bound() === 1, 'it is bound');
    await bind?.stop(0);

    expect([...withSession]).to.deep.equal([
      ['connecting', false],
      ['binding', false],
      ['bound', true],
      ['draining', false],
      ['closed', false],
    ]);
  });

  it('a way that its states do not know is refused and told: the connection ends, and it binds anew', async () => {
    smsc = await startSmsc();
    start();
    await eventually(() => bound() === 1, 'it is bound');

    bind?.start(user);

    await eventually(() => bound() === 2, 'it is bound again');
    expect(lines.find(({ event }) => event === 'bind_state_refused')?.fields).to.include({
      state: 'bound',
      refused: 'connecting',
    });
    expect(smsc.stats().binds).to.equal(2);
  });

  it('is closed, and never bound, when it is stopped while the answer to its bind is read', async () => {
    smsc = await startSmsc();
    let stopped: Promise<void> | undefined;
    const watched = {
      now: () => clock.now(),
      // The session asks the clock when a frame has come, before it reads the frame.
      monotonicMs: () => {
        if (armed) stopped ??= bind?.stop(0);
        return clock.monotonicMs();
      },
    };
    let armed = false;
    const onState = (state: BindState): void => {
      states.push(state);
      // The bind request asks the clock in the same turn of the event loop, so this begins in the next one.
      if (state === 'binding') setImmediate(() => (armed = true));
    };
    start({}, watched, { ...user, onState });

    await eventually(() => stopped !== undefined, 'it is stopped');
    await stopped;

    expect(states).to.deep.equal(['connecting', 'binding', 'closed']);
    expect(lines.map(({ event }) => event)).to.not.include('bind_state_refused');
  });
});
