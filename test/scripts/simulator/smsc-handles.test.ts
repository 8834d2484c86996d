import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMSC_DEFAULTS } from '../../../scripts/simulator/smsc/options.ts';
import { startSmsc } from '../../../scripts/simulator/smsc.ts';
import { eventually } from '../../support/eventually.ts';
import { ascii, bind, deliverResponse, octets, pdu, SmscWorld, statusOf, submit } from './hand-client.ts';

describe('the simulated SMSC, spoken to in bytes', () => {
  const world = new SmscWorld();

  describe('hostile and broken input', () => {
    for (const length of ['00000000', '00000001', '0000000f', '00011171', 'ffffffff']) {
      it(`ends the connection on command_length 0x${length}, with generic_nack 0x02`, async () => {
        await world.start();

        const esme = await world.client().bound();
        esme.write(submit(2, { registered: '00' }), octets(length, '00000015 00000000 00000009'));
        await eventually(() => esme.ended, 'the end of the connection');

        expect(esme.of('80000004').map(statusOf)).deep.equal(['00000000']);
        expect(esme.of('80000000').map(statusOf)).deep.equal(['00000002']);
        expect((await world.client().bound()).frames).length(1);
      });
    }

    it('answers an unknown command with generic_nack 0x03 and goes on', async () => {
      await world.start();

      const esme = await world.client().bound();
      esme.write(octets('00000010 00000999 00000000 00000009'), submit(10));
      await esme.have('80000004', 1);

      expect(esme.of('80000000').map((frame) => frame.toString('hex'))).deep.equal([
        '00000010800000000000000300000009',
      ]);
    });

    it('ignores answers to questions that it never asked', async () => {
      await world.start();

      const esme = await world.client().bound();
      esme.write(deliverResponse(77), octets('00000010 80000015 00000000 00000003'), submit(2));

      expect((await esme.have('80000004', 1)).map(statusOf)).deep.equal(['00000000']);
    });

    it('survives a thousand random PDUs', async () => {
      await world.start();

      let seed = 42;
      const random = () => {
        seed = (seed * 1_103_515_245 + 12_345) % 0x7fffffff;
        return seed;
      };
      for (let round = 0; round < 20; round++) {
        const esme = await world.client().bound();
        for (let each = 0; each < 50; each++) {
          const body = Buffer.from(Array.from({ length: random() % 60 }, () => random() % 256));
          esme.write(pdu(`0000000${1 + (random() % 9)}`, '00000000', each + 2, body.toString('hex')));
        }
        esme.close();
      }

      expect((await world.client().bound()).frames).length(1);
    });
  });

  describe('handles for tests', () => {
    it('a paused SMSC answers nothing, new connections included, until it is resumed', async () => {
      await world.start();

      const esme = await world.client().bound();
      world.smsc.pause();
      esme.write(submit(2));
      const late = world.client();
      late.write(bind('00000009'));
      await eventually(() => world.smsc.stats().connections === 2, 'the second connection');
      const during = { messages: world.smsc.messages().length, frames: esme.frames.length + late.frames.length };
      world.smsc.resume();
      await late.have('80000009', 1);
      await esme.have('80000004', 1);

      expect(during).deep.equal({ messages: 0, frames: 1 });
    });

    it('cut sessions see their connection break, and the port stays open', async () => {
      await world.start();

      const esme = await world.client().bound();
      const cut = world.smsc.cutSessions();
      await eventually(() => esme.ended, 'the end of the connection');

      expect(cut).equal(1);
      expect((await world.client().bound()).frames).length(1);
    });

    it('injected bytes arrive as they are', async () => {
      await world.start();

      const esme = await world.client().bound();
      world.smsc.inject(octets('00000011 00000005 00000000 00000001 ff'));

      expect((await esme.have('00000005', 1))[0]?.toString('hex')).equal('0000001100000005000000000000000' + '1ff');
    });

    it('every frame of both directions is seen once, in the order of the wire', async () => {
      const seen: string[] = [];
      await world.start({
        onFrame: (direction, bytes, session) => seen.push(`${session} ${direction} ${bytes.toString('hex', 4, 8)}`),
      });

      const esme = await world.client().bound();
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
      await world.start({ responseDelayMs: 20 });

      const esme = await world.client().bound();
      esme.write(submit(2), submit(3), submit(4));
      await esme.have('80000004', 3);

      expect(world.smsc.stats().peakUnanswered).equal(3);
    });

    it('the audit file has what was accepted though nobody was answered', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'smsc-'));
      const log = join(folder, 'audit.jsonl');
      await world.start({ log });

      const esme = await world.client().bound();
      esme.write(submit(2, { to: '919876543109', registered: '00' }));
      await eventually(() => readFileSync(log, 'utf8').includes('919876543109'), 'the line');

      expect(esme.of('80000004')).length(0);
      rmSync(folder, { recursive: true });
    });

    it('keeps no more messages than it is told to', async () => {
      await world.start({ keepMessages: 3 });

      const esme = await world.client().bound();
      esme.write(...[1, 2, 3, 4, 5].map((at) => submit(at, { data: ascii(String(at)) })));
      await esme.have('80000004', 5);

      expect(world.smsc.messages().map(({ text }) => text)).deep.equal(['3', '4', '5']);
    });

    it('listens on the loopback alone and says so when its port is taken', async () => {
      await world.start();

      const second = await startSmsc({ ...SMSC_DEFAULTS, port: world.smsc.port }).catch((error: unknown) => error);

      expect(second).include({ code: 'EADDRINUSE', address: '127.0.0.1' });
    });
  });
});
