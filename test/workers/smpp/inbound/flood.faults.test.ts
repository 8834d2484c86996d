import { eventually } from '../../../support/eventually.ts';
import { numbered } from '../../../support/smpp-world.ts';
import { bodies, inboundWorldPerTest } from './world.ts';

describe('smpp worker: a flood of messages of handsets', () => {
  const open = inboundWorldPerTest();

  it('on the bind that brings receipts: messages are delivered meanwhile, and each of the flood is told once', async () => {
    const here = await open({ smsc: { deliverWindow: 500, deliverTimeoutMs: 600_000 } });
    const texts = Array.from({ length: 3_000 }, (_, n) => `message ${String(n).padStart(4, '0')}`);

    for (const text of texts) here.says({ text });
    const ids = await here.sendMany(numbered(20));
    await here.allReach(ids, 'delivered');
    await eventually(() => here.smsc.stats().pending === 0, 'all are acknowledged');

    expect(bodies(await here.received(texts.length)).sort()).to.deep.equal(texts);
    expect(here.smsc.stats().deliveries).to.include({ retried: 0, givenUp: 0 });
  });
});
