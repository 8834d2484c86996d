import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SMSC_DEFAULTS, type SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { eventually } from '../../support/eventually.ts';
import {
  ascii,
  bind,
  cString,
  deliverResponse,
  HandClient,
  octets,
  pdu,
  sequenceOf,
  sized,
  statusOf,
  submit,
} from './hand-client.ts';

describe('the simulated SMSC, spoken to in bytes', () => {
  let smsc: Smsc;
  let clients: HandClient[] = [];

  async function start(options: Partial<SmscOptions> = {}): Promise<void> {
    smsc = await startSmsc({ receiptDelayMs: 10, retryDelayMs: 20, ...options });
  }

  function client(): HandClient {
    const made = new HandClient(smsc.port);
    clients.push(made);
    return made;
  }

  afterEach(async () => {
    for (const each of clients) each.close();
    clients = [];
    await smsc.close();
  });

  describe('binds', () => {
    for (const [kind, command, response] of [
      ['receiver', '00000001', '80000001'],
      ['transmitter', '00000002', '80000002'],
      ['transceiver', '00000009', '80000009'],
    ] as const) {
      it(`takes a ${kind} and says its name and version`, async () => {
        await start();

        const esme = await client().bound(bind(command));

        expect(esme.frames[0]?.toString('hex')).equal(
          pdu(response, '00000000', 1, cString('SIMULATOR'), '0210 0001 34').toString('hex'),
        );
        expect(smsc.sessions()).deep.equal([{ id: 1, systemId: 'acme', kind, outstanding: 0, unanswered: 0 }]);
      });
    }

    it('sends a client of version 3.3 no TLV, neither in the answer nor in receipts', async () => {
      await start();

      const esme = await client().bound(
        pdu('00000009', '00000000', 1, cString('old'), cString(''), cString(''), '33 00 00', cString('')),
      );
      esme.write(submit(2));
      const [receipt] = await esme.have('00000005', 1);

      expect(esme.frames[0]?.toString('hex')).equal(
        pdu('80000009', '00000000', 1, cString('SIMULATOR')).toString('hex'),
      );
      expect(receipt?.toString('latin1')).match(/stat:DELIVRD err:000 text:hi$/);
    });

    it('refuses another system_id with 0x0F and another password with 0x0E, and lets the client try again', async () => {
      await start({ systemId: 'acme', password: 'right' });

      const esme = client();
      esme.write(
        bind('00000009', 'other', 'right'),
        bind('00000009', 'acme', 'wrong'),
        bind('00000009', 'acme', 'right'),
      );
      const answers = await esme.have('80000009', 3);

      expect(answers.map(statusOf)).deep.equal(['0000000f', '0000000e', '00000000']);
      expect(smsc.stats()).include({ binds: 1, refusedBinds: 2 });
    });

    it('refuses a second bind with 0x05, a submit before the bind or on a receiver with 0x04', async () => {
      await start();

      const early = client();
      early.write(submit(1));
      const receiver = await client().bound(bind('00000001'));
      receiver.write(bind('00000009'), submit(3));

      expect((await early.have('80000004', 1)).map(statusOf)).deep.equal(['00000004']);
      expect((await receiver.have('80000009', 1)).map(statusOf)).deep.equal(['00000005']);
      expect((await receiver.have('80000004', 1)).map(statusOf)).deep.equal(['00000004']);
      expect(smsc.messages()).deep.equal([]);
    });

    it('answers enquire_link, and unbind before it closes', async () => {
      await start();

      const esme = await client().bound();
      esme.write(octets('00000010 00000015 00000000 00000007'), octets('00000010 00000006 00000000 00000008'));
      await eventually(() => esme.ended, 'the end of the connection');

      expect(esme.frames.slice(1).map((frame) => frame.toString('hex'))).deep.equal([
        '00000010800000150000000000000007',
        '00000010800000060000000000000008',
      ]);
      expect(smsc.sessions()).deep.equal([]);
    });

    it('sends enquire_link and unbind itself when asked to', async () => {
      await start();

      const esme = await client().bound();
      smsc.enquireSessions();
      smsc.unbindSessions();
      await esme.have('00000006', 1);
      esme.write(octets('00000010 80000015 00000000 00000001'), octets('00000010 80000006 00000000 00000002'));

      await eventually(() => esme.ended, 'the end of the connection');
      expect(esme.of('00000015')).length(1);
    });
  });

  describe('submit_sm', () => {
    it('is accepted with a new id each time and shown with everything it carried', async () => {
      await start();

      const esme = await client().bound();
      const tlv = `1400 0013 ${ascii('1101172974420810001')}`;
      esme.write(submit(5, { data: ascii('{').replace('7b', '1b28'), tlvs: tlv }), submit(6));
      const answers = await esme.have('80000004', 2);

      const ids = answers.map((answer) => answer.toString('latin1', 16, answer.length - 1));
      expect(answers.map(sequenceOf)).deep.equal([5, 6]);
      expect(ids[0])
        .match(/^[0-9a-f]{13,14}$/)
        .and.not.equal(ids[1]);
      const [first] = smsc.messages();
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
      await start();

      const esme = await client().bound();
      const part = (seq: number, total: number, part: number, text: string) =>
        submit(seq, { esmClass: '40', data: `050003 2a 0${total} 0${part} ${ascii(text)}` });
      esme.write(part(1, 3, 3, 'three'), part(2, 3, 1, 'one '), part(3, 3, 2, 'two '));
      esme.write(submit(4, { dataCoding: '08', data: '0928092e0938094d09240947' }));
      await esme.have('80000004', 4);

      expect(smsc.texts().map(({ text }) => text)).deep.equal(['one two three', 'नमस्ते']);
      expect(smsc.texts()[0]?.parts.map(({ sequence }) => sequence)).deep.equal([2, 3, 1]);
    });

    it('takes a message_payload of 60,000 octets in pieces', async () => {
      await start();

      const esme = await client().bound();
      const long = submit(9, { data: '', tlvs: `0424 ea60 ${'61'.repeat(60_000)}` });
      for (let at = 0; at < long.length; at += 1_000) esme.write(long.subarray(at, at + 1_000));
      const [answer] = await esme.have('80000004', 1);

      expect(statusOf(answer)).equal('00000000');
      expect(smsc.messages()[0]?.text).equal('a'.repeat(60_000));
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
        await start();

        const esme = await client().bound();
        esme.write(submit(2, fields), submit(3));
        const answers = await esme.have('80000004', 2);

        expect(answers.map(statusOf)).deep.equal([status, '00000000']);
        expect(answers[0]).length(16);
        expect(smsc.messages()).length(1);
        expect(smsc.stats()).include({ bad: 1 });
      });
    }

    it('takes the longest segments there are: 160, 6+153 septets, 140 and 6+134 octets', async () => {
      await start();

      const esme = await client().bound();
      esme.write(submit(1, { data: '61'.repeat(160) }), submit(2, { dataCoding: '08', data: '0061'.repeat(70) }));
      esme.write(submit(3, { esmClass: '40', data: `050003010101${'61'.repeat(153)}` }));
      esme.write(submit(4, { esmClass: '40', dataCoding: '08', data: `050003020101${'0061'.repeat(67)}` }));
      const answers = await esme.have('80000004', 4);

      expect(answers.map(statusOf)).deep.equal(new Array(4).fill('00000000'));
    });

    it('is throttled above the rate, and the busiest second is known', async () => {
      await start({ ratePerSecond: 3 });

      const esme = await client().bound();
      esme.write(...[1, 2, 3, 4, 5].map((sequence) => submit(sequence)));
      const answers = await esme.have('80000004', 5);

      expect(answers.map(statusOf)).deep.equal(['00000000', '00000000', '00000000', '00000058', '00000058']);
      expect(smsc.stats()).include({ peakPerSecond: 5 });
      expect(smsc.stats().submits.refused).deep.equal({ '0x58': 2 });
    });

    it('is refused with queue full when too many receipts wait', async () => {
      await start({ maxPending: 2, holdReceipts: true });

      const esme = await client().bound();
      esme.write(submit(1), submit(2), submit(3));
      const answers = await esme.have('80000004', 3);

      expect(answers.map(statusOf)).deep.equal(['00000000', '00000000', '00000014']);
    });

    it('follows a behaviour that a test plugs in, and the magic numbers where that says nothing', async () => {
      await start({ behaviour: ({ text }) => (text === 'no' ? { status: 0x65 } : undefined) });

      const esme = await client().bound();
      esme.write(submit(1, { data: ascii('no') }), submit(2), submit(3, { to: '919876543108' }));
      const answers = await esme.have('80000004', 3);

      expect(answers.map(statusOf)).deep.equal(['00000065', '00000000', '0000000b']);
    });

    it('query_sm tells the state of a message, and refuses an id of nobody', async () => {
      await start();

      const esme = await client().bound();
      esme.write(submit(2, { to: '919876543102', registered: '00' }));
      const [answer] = await esme.have('80000004', 1);
      const id = answer?.toString('latin1', 16, answer.length - 1) ?? '';
      await eventually(() => smsc.messages()[0]?.state === 'EXPIRED', 'the final state');
      const query = (sequence: number, of: string) =>
        pdu('00000003', '00000000', sequence, cString(of), '00 00', cString('ACMEIN'));
      esme.write(query(3, id), query(4, 'nobody'));
      const [known, unknown] = await esme.have('80000003', 2);

      expect(known?.toString('hex', 16)).equal(octets(cString(id), cString(''), '03 00').toString('hex'));
      expect(statusOf(unknown)).equal('00000067');
      expect(esme.of('00000005')).length(0);
    });
  });

  describe('receipts', () => {
    it('say in text and in TLVs what became of the message, with the addresses turned round', async () => {
      await start();

      const esme = await client().bound();
      esme.write(submit(2, { to: '919876543101', data: ascii('Your OTP is 123456. Do not share') }));
      const [answer] = await esme.have('80000004', 1);
      const [receipt] = await esme.have('00000005', 1);

      const id = answer?.toString('latin1', 16, answer.length - 1) ?? '';
      const text = new RegExp(
        `^id:${id} sub:001 dlvrd:000 submit date:\\d{10} done date:\\d{10} stat:UNDELIV err:001 text:Your OTP is 123456\\. $`,
      );
      const head = octets(
        cString(''),
        '01 01',
        cString('919876543101'),
        '05 00',
        cString('ACMEIN'),
        '04 00 00 00 00 00 00 00 00',
      );
      expect(receipt?.subarray(16, 16 + head.length).toString('hex')).equal(head.toString('hex'));
      const length = receipt?.[16 + head.length] ?? 0;
      const textAt = 16 + head.length + 1;
      expect(receipt?.toString('latin1', textAt, textAt + length)).match(text);
      expect(receipt?.toString('hex', textAt + length)).equal(
        octets('001e 00', sized(cString(id)), '0427 0001 05', '0423 0003 03 0001').toString('hex'),
      );
    });

    it('come as text alone or TLVs alone when so configured', async () => {
      await start({ receiptForm: 'text' });
      const texts = await client().bound();
      texts.write(submit(2));
      const [asText] = await texts.have('00000005', 1);
      await smsc.close();
      await start({ receiptForm: 'tlv' });
      const tlvs = await client().bound();
      tlvs.write(submit(2));
      const [asTlvs] = await tlvs.have('00000005', 1);

      expect(asText?.toString('latin1')).match(/stat:DELIVRD err:000 text:hi$/);
      expect(asTlvs?.toString('latin1')).not.include('stat:');
      expect(asTlvs?.toString('hex')).match(/0427000102$/);
    });

    it('come only if registered_delivery asks: never for 0, for failures alone with 2', async () => {
      await start();

      const esme = await client().bound();
      esme.acknowledge();
      for (const [at, registered] of ['00', '02', '01', '11'].entries()) {
        esme.write(submit(10 + at, { to: `9198765${registered}000`, registered }));
        esme.write(submit(20 + at, { to: `9198765${registered}101`, registered }));
      }
      await eventually(() => smsc.stats().deliveries.acknowledged === 5, 'five receipts');
      await eventually(() => smsc.messages().every(({ state }) => state !== 'ENROUTE'), 'all final');

      expect(smsc.stats().deliveries).include({ sent: 5, retried: 0 });
    });

    it('wait while no session of the account can receive, and then come to any of them in turn', async () => {
      await start();

      const transmitter = await client().bound(bind('00000002'));
      const stranger = await client().bound(bind('00000009', 'stranger'));
      transmitter.write(submit(2), submit(3), submit(4), submit(5));
      await eventually(() => smsc.stats().waiting.acme === 4, 'four receipts waiting');
      const first = await client().bound(bind('00000001'));
      await first.have('00000005', 4);
      const second = await client().bound(bind('00000009'));
      first.acknowledge();
      second.acknowledge();
      transmitter.write(submit(6), submit(7), submit(8), submit(9));
      await eventually(() => smsc.stats().deliveries.acknowledged === 8, 'eight receipts');

      expect(second.of('00000005')).length(2);
      expect(stranger.of('00000005')).length(0);
    });

    for (const [name, status] of [
      ['queue full', '00000014'],
      ['system error', '00000008'],
      ['throttled', '00000058'],
      ['temporary application error', '00000064'],
    ] as const) {
      it(`come again after a deliver_sm_resp that says ${name}`, async () => {
        await start();

        const esme = await client().bound();
        esme.write(submit(2));
        const [refused] = await esme.have('00000005', 1);
        esme.write(deliverResponse(sequenceOf(refused ?? Buffer.alloc(16)), status));
        const [, again] = await esme.have('00000005', 2);

        expect(again?.toString('hex', 16)).equal(refused?.toString('hex', 16));
        expect(smsc.stats().deliveries).include({ sent: 2, retried: 1, acknowledged: 0 });
      });
    }

    it('come again when they are not answered in time, and are given up after the last try', async () => {
      await start({ deliverTimeoutMs: 20, deliverTries: 3 });

      const esme = await client().bound();
      esme.write(submit(2));
      await eventually(() => smsc.stats().deliveries.givenUp === 1, 'giving up');

      expect(esme.of('00000005')).length(3);
      expect(smsc.stats()).include({ pending: 0 });
    });

    it('come again on another session when theirs breaks', async () => {
      await start();

      const first = await client().bound();
      first.write(submit(2));
      await first.have('00000005', 1);
      first.close();
      await eventually(() => smsc.stats().waiting.acme === 1, 'the receipt waiting again');
      const second = await client().bound();

      expect(await second.have('00000005', 1)).length(1);
    });

    it('never exceed the window of a session', async () => {
      await start({ deliverWindow: 3 });

      const esme = await client().bound();
      esme.write(...Array.from({ length: 10 }, (_, at) => submit(at + 2)));
      await eventually(() => smsc.stats().waiting.acme === 7, 'seven waiting behind three');
      const before = (await esme.have('00000005', 3)).length;
      esme.acknowledge();
      await eventually(() => smsc.stats().deliveries.acknowledged === 10, 'all of them');

      expect(before).equal(3);
    });

    it('are held until they are released', async () => {
      await start({ holdReceipts: true });

      const esme = await client().bound();
      esme.write(submit(2), submit(3));
      await eventually(() => smsc.stats().held === 2, 'two held receipts');
      const before = esme.of('00000005').length;
      smsc.release();

      expect(before).equal(0);
      expect(await esme.have('00000005', 2)).length(2);
    });

    it('say what a test writes, to play a carrier that exists', async () => {
      await start({
        idForm: 'hex-decimal',
        behaviour: () => ({ receipts: [{ stat: 'DELIVRD', tlvs: false, body: (id) => `id:${id} DELIVRD err:0` }] }),
      });

      const esme = await client().bound();
      esme.write(submit(2));
      const [answer] = await esme.have('80000004', 1);
      const [receipt] = await esme.have('00000005', 1);

      const id = BigInt(`0x${answer?.toString('latin1', 16, answer.length - 1)}`);
      expect(receipt?.toString('latin1')).match(new RegExp(`id:${id} DELIVRD err:0$`));
    });
  });

  describe('messages from phones', () => {
    it('reach the bound account with their text', async () => {
      await start();

      const esme = await client().bound();
      smsc.sendMo({ from: '919876543210', to: '56767', text: 'नमस्ते' });
      const [mo] = await esme.have('00000005', 1);

      expect(mo?.toString('hex', 16)).equal(
        octets(
          ...[cString(''), '01 01', cString('919876543210'), '01 01', cString('56767'), '00 00 00', '00 00', '00 00'],
          ...['08 00', sized('0928092e0938094d09240947')],
        ).toString('hex'),
      );
    });

    it('cannot be sent while nobody is bound who could be meant', async () => {
      await start();

      expect(() => smsc.sendMo({ from: '1', to: '2', text: 'x' })).throw(RangeError);
    });
  });

  describe('hostile and broken input', () => {
    for (const length of ['00000000', '00000001', '0000000f', '00011171', 'ffffffff']) {
      it(`ends the connection on command_length 0x${length}, with generic_nack 0x02`, async () => {
        await start();

        const esme = await client().bound();
        esme.write(submit(2, { registered: '00' }), octets(length, '00000015 00000000 00000009'));
        await eventually(() => esme.ended, 'the end of the connection');

        expect(esme.of('80000004').map(statusOf)).deep.equal(['00000000']);
        expect(esme.of('80000000').map(statusOf)).deep.equal(['00000002']);
        expect((await client().bound()).frames).length(1);
      });
    }

    it('answers an unknown command with generic_nack 0x03 and goes on', async () => {
      await start();

      const esme = await client().bound();
      esme.write(octets('00000010 00000999 00000000 00000009'), submit(10));
      await esme.have('80000004', 1);

      expect(esme.of('80000000').map((frame) => frame.toString('hex'))).deep.equal([
        '00000010800000000000000300000009',
      ]);
    });

    it('ignores answers to questions that it never asked', async () => {
      await start();

      const esme = await client().bound();
      esme.write(deliverResponse(77), octets('00000010 80000015 00000000 00000003'), submit(2));

      expect((await esme.have('80000004', 1)).map(statusOf)).deep.equal(['00000000']);
    });

    it('survives a thousand random PDUs', async () => {
      await start();

      let seed = 42;
      const random = () => {
        seed = (seed * 1_103_515_245 + 12_345) % 0x7fffffff;
        return seed;
      };
      for (let round = 0; round < 20; round++) {
        const esme = await client().bound();
        for (let each = 0; each < 50; each++) {
          const body = Buffer.from(Array.from({ length: random() % 60 }, () => random() % 256));
          esme.write(pdu(`0000000${1 + (random() % 9)}`, '00000000', each + 2, body.toString('hex')));
        }
        esme.close();
      }

      expect((await client().bound()).frames).length(1);
    });
  });

  describe('handles for tests', () => {
    it('a paused SMSC answers nothing, new connections included, until it is resumed', async () => {
      await start();

      const esme = await client().bound();
      smsc.pause();
      esme.write(submit(2));
      const late = client();
      late.write(bind('00000009'));
      await eventually(() => smsc.stats().connections === 2, 'the second connection');
      const during = { messages: smsc.messages().length, frames: esme.frames.length + late.frames.length };
      smsc.resume();
      await late.have('80000009', 1);
      await esme.have('80000004', 1);

      expect(during).deep.equal({ messages: 0, frames: 1 });
    });

    it('cut sessions see their connection break, and the port stays open', async () => {
      await start();

      const esme = await client().bound();
      const cut = smsc.cutSessions();
      await eventually(() => esme.ended, 'the end of the connection');

      expect(cut).equal(1);
      expect((await client().bound()).frames).length(1);
    });

    it('injected bytes arrive as they are', async () => {
      await start();

      const esme = await client().bound();
      smsc.inject(octets('00000011 00000005 00000000 00000001 ff'));

      expect((await esme.have('00000005', 1))[0]?.toString('hex')).equal('0000001100000005000000000000000' + '1ff');
    });

    it('every frame of both directions is seen once, in the order of the wire', async () => {
      const seen: string[] = [];
      await start({
        onFrame: (direction, bytes, session) => seen.push(`${session} ${direction} ${bytes.toString('hex', 4, 8)}`),
      });

      const esme = await client().bound();
      esme.write(submit(2), octets('00000010 00000006 00000000 00000003'));
      await eventually(() => esme.ended, 'the end of the connection');

      expect(seen).deep.equal([
        '1 in 00000009',
        '1 out 80000009',
        '1 in 00000004',
        '1 out 80000004',
        '1 in 00000006',
        '1 out 80000006',
      ]);
    });

    it('how many submits a client left unanswered at once is known', async () => {
      await start({ responseDelayMs: 20 });

      const esme = await client().bound();
      esme.write(submit(2), submit(3), submit(4));
      await esme.have('80000004', 3);

      expect(smsc.stats().peakUnanswered).equal(3);
    });

    it('the audit file has what was accepted though nobody was answered', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'smsc-'));
      const log = join(folder, 'audit.jsonl');
      await start({ log });

      const esme = await client().bound();
      esme.write(submit(2, { to: '919876543109', registered: '00' }));
      await eventually(() => readFileSync(log, 'utf8').includes('919876543109'), 'the line');

      expect(esme.of('80000004')).length(0);
      rmSync(folder, { recursive: true });
    });

    it('keeps no more messages than it is told to', async () => {
      await start({ keepMessages: 3 });

      const esme = await client().bound();
      esme.write(...[1, 2, 3, 4, 5].map((at) => submit(at, { data: ascii(String(at)) })));
      await esme.have('80000004', 5);

      expect(smsc.messages().map(({ text }) => text)).deep.equal(['3', '4', '5']);
    });

    it('listens on the loopback alone and says so when its port is taken', async () => {
      await start();

      const second = await startSmsc({ ...SMSC_DEFAULTS, port: smsc.port }).catch((error: unknown) => error);

      expect(second).include({ code: 'EADDRINUSE', address: '127.0.0.1' });
    });
  });
});
