import { expect } from 'chai';
import { type BindState, mayBecome } from '../../../../workers/smpp/session/bind-states.ts';

const STATES: readonly BindState[] = ['closed', 'connecting', 'binding', 'bound', 'draining', 'backoff'];
const WAYS: readonly string[] = [
  'closed connecting',
  'connecting binding',
  'connecting backoff',
  'connecting closed',
  'binding bound',
  'binding backoff',
  'binding closed',
  'bound draining',
  'bound backoff',
  'draining backoff',
  'draining closed',
  'backoff connecting',
  'backoff closed',
];

describe('states of a bind', () => {
  it('lead where the picture in workers/smpp/README.md says, and nowhere else', () => {
    const ways = STATES.flatMap((from) => STATES.filter((to) => mayBecome(from, to)).map((to) => `${from} ${to}`));

    expect(ways).to.have.members(WAYS);
  });
});
