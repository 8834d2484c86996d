import { openWorld } from '../../support/smpp-world.ts';
import { use } from '../../support/use.ts';

describe('smpp worker: one message to a carrier and back', () => {
  const world = use(openWorld);

  it('a message is submitted, sent and delivered, with the time and the operator', async () => {
    const id = await world.send({ to: '919876500000', text: 'hello' });

    const message = await world.reaches(id, 'delivered');

    expect(message.history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered']);
    expect(message.operator).to.equal('Simulator');
    expect(message.deliveredAt).to.be.instanceOf(Date);
    expect(message).not.to.have.property('due');
    expect(world.smsc.texts().map(({ text }) => text)).to.deep.equal(['hello']);
  });
});
