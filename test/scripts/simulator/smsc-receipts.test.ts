import { eventually } from '../../support/eventually.ts';
import { ascii, bind, cString, deliverResponse, octets, SmscWorld, sequenceOf, sized, submit } from './hand-client.ts';

describe('the simulated SMSC, spoken to in bytes', () => {
  const world = new SmscWorld();

  describe('receipts', () => {
    it('say in text and in TLVs what became of the message, with the addresses turned round', async () => {
      await world.start();

      const esme = await world.client().bound();
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
      await world.start({ receiptForm: 'text' });
      const texts = await world.client().bound();
      texts.write(submit(2));
      const [asText] = await texts.have('00000005', 1);
      await world.smsc.close();
      await world.start({ receiptForm: 'tlv' });
      const tlvs = await world.client().bound();
      tlvs.write(submit(2));
      const [asTlvs] = await tlvs.have('00000005', 1);

      expect(asText?.toString('latin1')).match(/stat:DELIVRD err:000 text:hi$/);
      expect(asTlvs?.toString('latin1')).not.include('stat:');
      expect(asTlvs?.toString('hex')).match(/0427000102$/);
    });

    it('come only if registered_delivery asks: never for 0, for failures alone with 2', async () => {
      await world.start();

      const esme = await world.client().bound();
      esme.acknowledge();
      for (const [at, registered] of ['00', '02', '01', '11'].entries()) {
        esme.write(submit(10 + at, { to: `9198765${registered}000`, registered }));
        esme.write(submit(20 + at, { to: `9198765${registered}101`, registered }));
      }
      await eventually(() => world.smsc.stats().deliveries.acknowledged === 5, 'five receipts');
      await eventually(() => world.smsc.messages().every(({ state }) => state !== 'ENROUTE'), 'all final');

      expect(world.smsc.stats().deliveries).include({ sent: 5, retried: 0 });
    });

    it('wait while no session of the account can receive, and then come to any of them in turn', async () => {
      await world.start();

      const transmitter = await world.client().bound(bind('00000002'));
      const stranger = await world.client().bound(bind('00000009', 'stranger'));
      transmitter.write(submit(2), submit(3), submit(4), submit(5));
      await eventually(() => world.smsc.stats().waiting.acme === 4, 'four receipts waiting');
      const first = await world.client().bound(bind('00000001'));
      await first.have('00000005', 4);
      const second = await world.client().bound(bind('00000009'));
      first.acknowledge();
      second.acknowledge();
      transmitter.write(submit(6), submit(7), submit(8), submit(9));
      await eventually(() => world.smsc.stats().deliveries.acknowledged === 8, 'eight receipts');

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
        await world.start();

        const esme = await world.client().bound();
        esme.write(submit(2));
        const [refused] = await esme.have('00000005', 1);
        esme.write(deliverResponse(sequenceOf(refused ?? Buffer.alloc(16)), status));
        const [, again] = await esme.have('00000005', 2);

        expect(again?.toString('hex', 16)).equal(refused?.toString('hex', 16));
        expect(world.smsc.stats().deliveries).include({ sent: 2, retried: 1, acknowledged: 0 });
      });
    }

    it('come again when they are not answered in time, and are given up after the last try', async () => {
      await world.start({ deliverTimeoutMs: 20, deliverTries: 3 });

      const esme = await world.client().bound();
      esme.write(submit(2));
      await eventually(() => world.smsc.stats().deliveries.givenUp === 1, 'giving up');

      expect(esme.of('00000005')).length(3);
      expect(world.smsc.stats()).include({ pending: 0 });
    });

    it('come again on another session when theirs breaks', async () => {
      await world.start();

      const first = await world.client().bound();
      first.write(submit(2));
      await first.have('00000005', 1);
      first.close();
      await eventually(() => world.smsc.stats().waiting.acme === 1, 'the receipt waiting again');
      const second = await world.client().bound();

      expect(await second.have('00000005', 1)).length(1);
    });

    it('never exceed the window of a session', async () => {
      await world.start({ deliverWindow: 3 });

      const esme = await world.client().bound();
      esme.write(...Array.from({ length: 10 }, (_, at) => submit(at + 2)));
      await eventually(() => world.smsc.stats().waiting.acme === 7, 'seven waiting behind three');
      const before = (await esme.have('00000005', 3)).length;
      esme.acknowledge();
      await eventually(() => world.smsc.stats().deliveries.acknowledged === 10, 'all of them');

      expect(before).equal(3);
    });

    it('are held until they are released', async () => {
      await world.start({ holdReceipts: true });

      const esme = await world.client().bound();
      esme.write(submit(2), submit(3));
      await eventually(() => world.smsc.stats().held === 2, 'two held receipts');
      const before = esme.of('00000005').length;
      world.smsc.release();

      expect(before).equal(0);
      expect(await esme.have('00000005', 2)).length(2);
    });

    it('say what a test writes, to play a carrier that exists', async () => {
      await world.start({
        idForm: 'hex-decimal',
        behaviour: () => ({ receipts: [{ stat: 'DELIVRD', tlvs: false, body: (id) => `id:${id} DELIVRD err:0` }] }),
      });

      const esme = await world.client().bound();
      esme.write(submit(2));
      const [answer] = await esme.have('80000004', 1);
      const [receipt] = await esme.have('00000005', 1);

      const id = BigInt(`0x${answer?.toString('latin1', 16, answer.length - 1)}`);
      expect(receipt?.toString('latin1')).match(new RegExp(`id:${id} DELIVRD err:0$`));
    });
  });

  describe('messages from phones', () => {
    it('reach the bound account with their text', async () => {
      await world.start();

      const esme = await world.client().bound();
      world.smsc.sendMo({ from: '919876543210', to: '56767', text: 'नमस्ते' });
      const [mo] = await esme.have('00000005', 1);

      expect(mo?.toString('hex', 16)).equal(
        octets(
          ...[cString(''), '01 01', cString('919876543210'), '01 01', cString('56767'), '00 00 00', '00 00', '00 00'],
          ...['08 00', sized('0928092e0938094d09240947')],
        ).toString('hex'),
      );
    });

    it('cannot be sent while nobody is bound who could be meant', async () => {
      await world.start();

      expect(() => world.smsc.sendMo({ from: '1', to: '2', text: 'x' })).throw(RangeError);
    });
  });
});
