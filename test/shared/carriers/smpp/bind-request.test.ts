import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../../shared/carriers/carrier.ts';
import { STATUS } from '../../../../shared/carriers/command-status.ts';
import { BIND_COMMANDS, hostOf, turnsOf } from '../../../../shared/carriers/smpp/bind-request.ts';
import { FRESH, pauseAfter, type Streak } from '../../../../workers/smpp/session/backoff.ts';

const at = (host: string): { host: string; port: number } => ({ host, port: 2775 });
const carrier = (differs: Partial<CarrierDocument>): CarrierDocument => ({
  ...CARRIER_DEFAULTS,
  ...{ _id: 'c', name: 'C', ...at('a'), systemId: 'x', password: '', createdAt: new Date(0) },
  ...differs,
});

/** The host of each try, while none works. */
function tries(of: CarrierDocument, count: number): string[] {
  let streak: Streak = FRESH;
  return Array.from({ length: count }, () => {
    const hosts = BIND_COMMANDS[of.bindKind].map((command) => hostOf(of, command, streak.failed).host);
    ({ streak } = pauseAfter({ kind: 'failed' }, streak, 0, turnsOf(of)));
    return hosts.join('+');
  });
}

describe('hosts of a carrier', () => {
  it('take turns for as long as none works', () => {
    const two = carrier({ links: { otherHosts: [at('b')] } });
    expect(tries(two, 40)).to.deep.equal(Array.from({ length: 20 }, () => ['a', 'b']).flat());
  });

  it('of a pair: each host of the receiver is tried with each of the transmitter', () => {
    const links = { otherHosts: [at('b')], receiverHosts: [at('r'), at('s')] };
    expect(tries(carrier({ bindKind: 'pair', links }), 5)).to.deep.equal(['a+r', 'b+r', 'a+s', 'b+s', 'a+r']);
  });

  it('of a pair whose receiver has no hosts of its own: both at the same one', () => {
    const links = { otherHosts: [at('b')] };
    expect(tries(carrier({ bindKind: 'pair', links }), 3)).to.deep.equal(['a+a', 'b+b', 'a+a']);
  });

  it('one that cannot bind us does not keep the next one waiting', () => {
    const waits = [0, 1, 2].map(
      (failed) => pauseAfter({ kind: 'refused', status: STATUS.bindFailed }, { failed, quick: 0 }, 0, 3).waitMs,
    );
    expect(waits).to.deep.equal([50, 50, 60_050]);
  });

  it('a wrong password waits at each host: it is the same account', () => {
    expect(pauseAfter({ kind: 'refused', status: STATUS.invalidPassword }, FRESH, 0, 3).waitMs).to.equal(60_050);
  });
});
