import { Socket } from 'node:net';
import { expect } from 'chai';
import { Connections } from '../../../gateway/edge/connections.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const CROWD = 2_000;

describe('the open connections', () => {
  let clock: ManualClock;
  let busy: Set<Socket>;
  let connections: Connections;
  let sockets: Socket[];
  beforeEach(() => {
    clock = new ManualClock();
    busy = new Set();
    connections = new Connections((socket) => busy.has(socket), clock);
    sockets = Array.from({ length: CROWD }, () => add());
  });

  function add(): Socket {
    const socket = new Socket();
    connections.add(socket);
    return socket;
  }

  const closed = (): number[] => sockets.flatMap((socket, i) => (socket.destroyed ? [i] : []));

  it('however silent, stay as long as they are no crowd', () => {
    clock.turn(60_000);
    connections.delete(sockets.pop() as Socket);
    add();

    expect(closed()).to.deep.equal([]);
  });

  it('in a crowd, those that have asked for nothing for 2 s give way, the longest silent first', () => {
    clock.turn(2_001);
    connections.asked(sockets[1] as Socket);
    add();
    expect(closed()).to.deep.equal([0]);

    add();
    expect(closed()).to.deep.equal([0, 2]);
  });

  it('where several are too many, because they had asked, up to eight go for each new one', () => {
    for (let i = 0; i < 20; i++) add();
    clock.turn(2_001);
    add();
    expect(closed()).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);

    for (let i = 0; i < 3; i++) add();
    expect(closed()).to.have.lengthOf(24);
  });

  it('in a crowd that is just coming nobody gives way', () => {
    clock.turn(1_999);
    add();

    expect(closed()).to.deep.equal([]);
  });

  it('whoever waits for an answer stays', () => {
    clock.turn(2_001);
    for (const socket of sockets.slice(0, 100)) busy.add(socket);
    for (let i = 0; i < 14; i++) add();

    expect(closed()).to.deep.equal(Array.from({ length: 12 }, (_, i) => 100 + i));
  });

  it('closes those that wait for no answer when it is asked to', () => {
    busy.add(sockets[5] as Socket);

    connections.closeSilent();

    expect(closed())
      .to.have.lengthOf(CROWD - 1)
      .and.not.include(5);
  });
});
