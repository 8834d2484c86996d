import { eventually } from '../../support/eventually.ts';
import { numbered, worldPerTest } from '../../support/smpp-world.ts';

const HINDI = 'नमस्ते, आपका OTP 123456 है। कृपया इसे किसी के साथ साझा न करें। यह 10 मिनट के लिए मान्य है। धन्यवाद, हरकारा।';

describe('smpp worker: what it submits', () => {
  const open = worldPerTest();

  it('texts arrive intact: three GSM segments with an extension character on a boundary, and Hindi', async () => {
    const here = await open();
    const gsm = `${'a'.repeat(152)}€${'b'.repeat(152)}{c}`;

    const ids = await here.sendMany([
      { to: '919876500001', text: gsm },
      { to: '919876500002', text: HINDI },
    ]);
    await here.allReach(ids, 'delivered');
    const done = await Promise.all(ids.map((id) => here.message(id)));

    expect(done.map(({ segments, operator }) => [segments, operator])).to.deep.equal([
      [3, 'Simulator'],
      [2, 'Simulator'],
    ]);
    expect(here.smsc.texts().map(({ to, text }) => [to, text])).to.have.deep.members([
      ['919876500001', gsm],
      ['919876500002', HINDI],
    ]);
  });

  it('all segments of a message go on one bind, in order, also with several binds', async () => {
    const here = await open({ carrier: { binds: 3, windowSize: 4 } });
    const text = 'segments '.repeat(80);

    const ids = await here.sendMany(numbered(20, { text }));
    await here.allReach(ids, 'delivered');

    expect(here.smsc.stats().binds).to.equal(3);
    expect(here.smsc.texts().map((one) => one.text)).to.deep.equal(Array.from({ length: 20 }, () => text));
    for (const { parts } of here.smsc.texts()) {
      expect(new Set(parts.map((part) => part.sessionId)).size).to.equal(1);
    }
  });

  it('a transmitter and a receiver do what a transceiver does', async () => {
    const here = await open({ carrier: { bindKind: 'pair' } });

    await here.reaches(await here.send({}), 'delivered');

    expect(here.smsc.sessions().map(({ kind }) => kind)).to.have.members(['transmitter', 'receiver']);
  });

  it('the window of a bind is never exceeded, and full', async () => {
    const here = await open({ carrier: { windowSize: 7 }, smsc: { responseDelayMs: 5 } });

    const ids = await here.sendMany(numbered(100));
    await here.allReach(ids, 'delivered');

    expect(here.smsc.stats().peakUnanswered).to.equal(7);
  });

  it('the rate of the carrier is never exceeded, over all its binds together', async () => {
    // The simulator throttles above its rate: it must throttle nothing.
    const here = await open({ carrier: { perSecond: 40, binds: 2 }, smsc: { ratePerSecond: 45 } });

    const ids = await here.sendMany(numbered(90));
    await here.allReach(ids, 'delivered');

    expect(here.smsc.stats().submits.refused).to.deep.equal({});
  });

  it('what waits for the rate of the carrier is claimed in groups, not by each token', async () => {
    const here = await open({ carrier: { perSecond: 50 } });

    const ids = await here.sendMany(numbered(60));
    await here.allReach(ids, 'delivered');

    const claims = await here.metrics.registry.getSingleMetricAsString('harkara_smpp_claim_messages');
    expect(Number(/_count (\d+)$/m.exec(claims)?.[1])).to.be.within(2, 30);
  });

  it('a carrier that throttles gets less, and everything in the end', async () => {
    const here = await open({ smsc: { ratePerSecond: 50 } });

    const ids = await here.sendMany(numbered(150));
    await here.allReach(ids, 'delivered');

    for (const id of ids) expect((await here.message(id)).tries).to.equal(0);
  });

  it('of a message whose second segment is throttled only that one is sent again, with the same reference', async () => {
    let throttled = 3;
    const here = await open({
      smsc: {
        behaviour: ({ concatenation }) => (concatenation?.part === 2 && throttled-- > 0 ? { status: 0x58 } : undefined),
      },
    });
    const text = 'segments '.repeat(50);

    await here.reaches(await here.send({ text }), 'delivered');

    expect(here.smsc.texts().map((one) => one.text)).to.deep.equal([text]);
    expect(here.smsc.messages()).to.have.length(3);
    expect(here.smsc.stats().submits).to.deep.include({ submitted: 6, refused: { '0x58': 3 } });
  });

  it('a segment that is throttled far more often than it may be refused is sent in the end', async () => {
    let throttled = 7;
    const here = await open({
      smsc: {
        behaviour: ({ concatenation }) => (concatenation?.part === 2 && throttled-- > 0 ? { status: 0x58 } : undefined),
      },
    });

    const id = await here.send({ text: 'segments '.repeat(20) });
    const message = await eventually(async () => {
      await here.reaches(await here.send({ to: '919876599000' }), 'delivered'); // otherwise the carrier is left alone for long
      const found = await here.message(id);
      return found.state === 'delivered' || found.state === 'failed' ? found : undefined;
    }, 'it has ended');

    expect(message).to.include({ state: 'delivered', segments: 2 });
  });

  it('the rest of a message waits for its bind to come back', async () => {
    let busy = 1;
    const here = await open({
      smsc: {
        behaviour: ({ concatenation }) => (concatenation?.part === 2 && busy-- > 0 ? { status: 0x14 } : undefined),
      },
    });
    const text = 'segments '.repeat(20);

    const id = await here.send({ text });
    await eventually(() => here.smsc.stats().submits.refused['0x14'] === 1, 'the second segment is refused for now');
    here.smsc.resetSessions();
    await here.reaches(id, 'delivered');

    expect(here.smsc.texts().map((one) => one.text)).to.deep.equal([text]);
    expect(here.smsc.messages()).to.have.length(2);
  });
});
