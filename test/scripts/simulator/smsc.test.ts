import { eventually } from '../../support/eventually.ts';
import { ascii, bind, cString, octets, pdu, SmscWorld, sequenceOf, statusOf, submit } from './hand-client.ts';

describe('the simulated SMSC, spoken to in bytes', () => {
  const world = new SmscWorld();

  describe('binds', () => {
    for (const [kind, command, response] of [
      ['receiver', '00000001', '80000001'],
      ['transmitter', '00000002', '80000002'],
      ['transceiver', '00000009', '80000009'],
    ] as const) {
      it(`takes a ${kind} and says its name and version`, async () => {
        await world.start();

        const esme = await world.client().bound(bind(command));

        expect(esme.frames[0]?.toString('hex')).equal(
          pdu(response, '00000000', 1, cString('SIMULATOR'), '0210 0001 34').toString('hex'),
        );
        expect(world.smsc.sessions()).deep.equal([{ id: 1, systemId: 'acme', kind, outstanding: 0, unanswered: 0 }]);
      });
    }

    it('sends a client of version 3.3 no TLV, neither in the answer nor in receipts', async () => {
      await world.start();

      const esme = await world
        .client()
        .bound(pdu('00000009', '00000000', 1, cString('old'), cString(''), cString(''), '33 00 00', cString('')));
      esme.write(submit(2));
      const [receipt] = await esme.have('00000005', 1);

      expect(esme.frames[0]?.toString('hex')).equal(
        pdu('80000009', '00000000', 1, cString('SIMULATOR')).toString('hex'),
      );
      expect(receipt?.toString('latin1')).match(/stat:DELIVRD err:000 text:hi$/);
    });

    it('refuses another system_id with 0x0F and another password with 0x0E, and lets the client try again', async () => {
      await world.start({ systemId: 'acme', password: 'right' });

      const esme = world.client();
      esme.write(
        bind('00000009', 'other', 'right'),
        bind('00000009', 'acme', 'wrong'),
        bind('00000009', 'acme', 'right'),
      );
      const answers = await esme.have('80000009', 3);

      expect(answers.map(statusOf)).deep.equal(['0000000f', '0000000e', '00000000']);
      expect(world.smsc.stats()).include({ binds: 1, refusedBinds: 2 });
    });

    it('refuses a second bind with 0x05, a submit before the bind or on a receiver with 0x04', async () => {
      await world.start();

      const early = world.client();
      early.write(submit(1));
      const receiver = await world.client().bound(bind('00000001'));
      receiver.write(bind('00000009'), submit(3));

      expect((await early.have('80000004', 1)).map(statusOf)).deep.equal(['00000004']);
      expect((await receiver.have('80000009', 1)).map(statusOf)).deep.equal(['00000005']);
      expect((await receiver.have('80000004', 1)).map(statusOf)).deep.equal(['00000004']);
      expect(world.smsc.messages()).deep.equal([]);
    });

    it('answers enquire_link, and unbind before it closes', async () => {
      await world.start();

      const esme = await world.client().bound();
      esme.write(octets('00000010 00000015 00000000 00000007'), octets('00000010 00000006 00000000 00000008'));
      await eventually(() => esme.ended, 'the end of the connection');

      expect(esme.frames.slice(1).map((frame) => frame.toString('hex'))).deep.equal([
        '00000010800000150000000000000007',
        '00000010800000060000000000000008',
      ]);
      expect(world.smsc.sessions()).deep.equal([]);
    });

    it('sends enquire_link and unbind itself when asked to', async () => {
      await world.start();

      const esme = await world.client().bound();
      world.smsc.enquireSessions();
      world.smsc.unbindSessions();
      await esme.have('00000006', 1);
      esme.write(octets('00000010 80000015 00000000 00000001'), octets('00000010 80000006 00000000 00000002'));

      await eventually(() => esme.ended, 'the end of the connection');
      expect(esme.of('00000015')).length(1);
    });
  });

  describe('submit_sm', () => {
    it('is accepted with a new id each time and shown with everything it carried', async () => {
      await world.start();

      const esme = await world.client().bound();
      const tlv = `1400 0013 ${ascii('1101172974420810001')}`;
      esme.write(submit(5, { data: ascii('{').replace('7b', '1b28'), tlvs: tlv }), submit(6));
      const answers = await esme.have('80000004', 2);

      const ids = answers.map((answer) => answer.toString('latin1', 16, answer.length - 1));
      expect(answers.map(sequenceOf)).deep.equal([5, 6]);
      expect(ids[0])
        .match(/^[0-9a-f]{13,14}$/)
        .and.not.equal(ids[1]);
      const [first] = world.smsc.messages();
      expect(first).include({
        from: 'ACMEIN',
        to: '919876543000',
        dataCoding: 0,
        esmClass: 0,
        text: '{',
        messageId: ids[0],
      });
      expect(first?.tlvs.get(0x1400)?.toString()).equal('1101172974420810001');
    });

    it('whole texts are put together from segments in any order, GSM and UCS-2', async () => {
      await world.start();

      const esme = await world.client().bound();
      const part = (seq: number, total: number, part: number, text: string) =>
        submit(seq, { esmClass: '40', data: `050003 2a 0${total} 0${part} ${ascii(text)}` });
      esme.write(part(1, 3, 3, 'three'), part(2, 3, 1, 'one '), part(3, 3, 2, 'two '));
      esme.write(submit(4, { dataCoding: '08', data: '0928092e0938094d09240947' }));
      await esme.have('80000004', 4);

      expect(world.smsc.texts().map(({ text }) => text)).deep.equal(['one two three', 'नमस्ते']);
      expect(world.smsc.texts()[0]?.parts.map(({ sequence }) => sequence)).deep.equal([2, 3, 1]);
    });

    it('takes a message_payload of 60,000 octets in pieces', async () => {
      await world.start();

      const esme = await world.client().bound();
      const long = submit(9, { data: '', tlvs: `0424 ea60 ${'61'.repeat(60_000)}` });
      for (let at = 0; at < long.length; at += 1_000) esme.write(long.subarray(at, at + 1_000));
      const [answer] = await esme.have('80000004', 1);

      expect(statusOf(answer)).equal('00000000');
      expect(world.smsc.messages()[0]?.text).equal('a'.repeat(60_000));
    });

    for (const [what, fields, status] of [
      ['161 GSM septets', { data: '61'.repeat(161) }, '00000001'],
      ['141 octets of UCS-2', { dataCoding: '08', data: '00'.repeat(141) }, '00000001'],
      ['154 septets after a header', { esmClass: '40', data: `050003010201${'61'.repeat(154)}` }, '00000001'],
      ['a header longer than the message', { esmClass: '40', data: '0600' }, '00000001'],
      ['half a TLV', { tlvs: '1400 0013 31' }, '000000c0'],
      ['short_message and message_payload together', { tlvs: '0424 0001 61' }, '000000c1'],
      ['no destination', { to: '' }, '0000000b'],
      ['a destination of 21 characters', { to: '123456789012345678901' }, '0000000b'],
    ] as const) {
      it(`is refused with 0x${status.slice(-2)} for ${what}`, async () => {
        await world.start();

        const esme = await world.client().bound();
        esme.write(submit(2, fields), submit(3));
        const answers = await esme.have('80000004', 2);

        expect(answers.map(statusOf)).deep.equal([status, '00000000']);
        expect(answers[0]).length(16);
        expect(world.smsc.messages()).length(1);
        expect(world.smsc.stats()).include({ bad: 1 });
      });
    }

    it('takes the longest segments there are: 160, 6+153 septets, 140 and 6+134 octets', async () => {
      await world.start();

      const esme = await world.client().bound();
      esme.write(submit(1, { data: '61'.repeat(160) }), submit(2, { dataCoding: '08', data: '0061'.repeat(70) }));
      esme.write(submit(3, { esmClass: '40', data: `050003010101${'61'.repeat(153)}` }));
      esme.write(submit(4, { esmClass: '40', dataCoding: '08', data: `050003020101${'0061'.repeat(67)}` }));
      const answers = await esme.have('80000004', 4);

      expect(answers.map(statusOf)).deep.equal(new Array(4).fill('00000000'));
    });

    it('is throttled above the rate, and the busiest second is known', async () => {
      await world.start({ ratePerSecond: 3 });

      const esme = await world.client().bound();
      esme.write(...[1, 2, 3, 4, 5].map((sequence) => submit(sequence)));
      const answers = await esme.have('80000004', 5);

      expect(answers.map(statusOf)).deep.equal(['00000000', '00000000', '00000000', '00000058', '00000058']);
      expect(world.smsc.stats()).include({ peakPerSecond: 5 });
      expect(world.smsc.stats().submits.refused).deep.equal({ '0x58': 2 });
    });

    it('is refused with queue full when too many receipts wait', async () => {
      await world.start({ maxPending: 2, holdReceipts: true });

      const esme = await world.client().bound();
      esme.write(submit(1), submit(2), submit(3));
      const answers = await esme.have('80000004', 3);

      expect(answers.map(statusOf)).deep.equal(['00000000', '00000000', '00000014']);
    });

    it('follows a behaviour that a test plugs in, and the magic numbers where that says nothing', async () => {
      await world.start({ behaviour: ({ text }) => (text === 'no' ? { status: 0x65 } : undefined) });

      const esme = await world.client().bound();
      esme.write(submit(1, { data: ascii('no') }), submit(2), submit(3, { to: '919876543108' }));
      const answers = await esme.have('80000004', 3);

      expect(answers.map(statusOf)).deep.equal(['00000065', '00000000', '0000000b']);
    });

    it('query_sm tells the state of a message, and refuses an id of nobody', async () => {
      await world.start();

      const esme = await world.client().bound();
      esme.write(submit(2, { to: '919876543102', registered: '00' }));
      const [answer] = await esme.have('80000004', 1);
      const id = answer?.toString('latin1', 16, answer.length - 1) ?? '';
      await eventually(() => world.smsc.messages()[0]?.state === 'EXPIRED', 'the final state');
      const query = (sequence: number, of: string) =>
        pdu('00000003', '00000000', sequence, cString(of), '00 00', cString('ACMEIN'));
      esme.write(query(3, id), query(4, 'nobody'));
      const [known, unknown] = await esme.have('80000003', 2);

      expect(known?.toString('hex', 16)).equal(octets(cString(id), cString(''), '03 00').toString('hex'));
      expect(statusOf(unknown)).equal('00000067');
      expect(esme.of('00000005')).length(0);
    });
  });
});
