import type { Submit } from '../../../scripts/simulator/smpp/submit.ts';
import type { DefaultAlphabet } from '../../../scripts/simulator/smpp/text.ts';
import type { StoredGroups } from '../../../shared/carriers/settings/table.ts';
import type { MessageDraft } from '../../../shared/messages/document/message.ts';
import { type World, worldPerTest } from '../../support/smpp-world.ts';

const LONG = `Bonjour é £ @ ${'x'.repeat(150)} à la fin`;
const UNICODE = `नमस्ते ${'अ'.repeat(80)}`;

describe('smpp worker: settings of a carrier, as its SMSC gets them', () => {
  const open = worldPerTest();

  async function sent(world: World, draft: Partial<MessageDraft>): Promise<{ text: string; parts: readonly Submit[] }> {
    const id = await world.send(draft);
    await world.reaches(id, 'delivered');
    const whole = world.smsc.texts().at(-1);
    return { text: whole?.text ?? '', parts: whole?.parts ?? [] };
  }

  const opened = (groups: StoredGroups, defaultAlphabet: DefaultAlphabet = 'gsm7'): Promise<World> =>
    open({ carrier: groups, smsc: { defaultAlphabet } });

  describe('alphabet', () => {
    const alphabets: readonly (readonly [NonNullable<StoredGroups['texts']>, DefaultAlphabet])[] = [
      [{ alphabet: 'gsm' }, 'gsm7'],
      [{ alphabet: 'gsm-packed' }, 'gsm7-packed'],
      [{ alphabet: 'latin1' }, 'latin1'],
      [{ alphabet: 'ascii' }, 'ascii'],
      [{ alphabet: 'latin1', longText: 'udh16' }, 'latin1'],
      [{ alphabet: 'latin1', longText: 'sar' }, 'latin1'],
      [{ alphabet: 'latin1', longText: 'payload' }, 'latin1'],
      [{ alphabet: 'gsm-packed', longText: 'udh16' }, 'gsm7-packed'],
      [{ alphabet: 'gsm-packed', longText: 'sar' }, 'gsm7-packed'],
    ];
    for (const [texts, defaultAlphabet] of alphabets) {
      it(`${Object.values(texts).join(', ')}: every text arrives as it was written`, async () => {
        const world = await opened({ texts }, defaultAlphabet);

        for (const text of ['é £ @ €', 'é £ @', '@ $ _ { [', 'plain', '1234567', LONG, UNICODE, `${'[é'.repeat(80)}`]) {
          expect((await sent(world, { text })).text).to.equal(text);
        }
      });
    }

    it('is why `é £ @` arrived garbled at a Latin-1 SMSC', async () => {
      const world = await opened({}, 'latin1');

      expect((await sent(world, { text: 'é £ @' })).text).not.to.equal('é £ @');
    });

    it('a text that grew to more segments than were counted is delivered whole, and counted', async () => {
      const world = await opened({ texts: { alphabet: 'latin1' } }, 'latin1');
      const text = `${'a'.repeat(150)} ${'€'}`;

      const id = await world.send({ text });
      const message = await world.reaches(id, 'delivered');

      expect(message).to.include({ segments: 1, encoding: 'GSM7' });
      expect(message.parts).to.have.length(3);
      expect(world.smsc.texts().at(-1)?.text).to.equal(text);
      expect(await world.metrics.registry.metrics()).to.include('smpp_recoded_total{carrier="sim",to="UCS2"} 1');
    });

    it('similar characters spare UCS-2 where wanted, but not under DLT', async () => {
      const world = await opened({ texts: { substitute: true } });

      const plain = await sent(world, { text: 'It’s done…' });
      expect([plain.text, plain.parts[0]?.dataCoding]).to.deep.equal(["It's done...", 0]);
      const dlt = await sent(world, { text: 'It’s done…', template: '1107161234567890123' });
      expect([dlt.text, dlt.parts[0]?.dataCoding]).to.deep.equal(['It’s done…', 8]);
    });
  });

  describe('long texts', () => {
    for (const [longText, kind, count] of [
      ['udh8', 'udh8', 2],
      ['udh16', 'udh16', 2],
      ['sar', 'sar', 2],
      ['payload', undefined, 1],
    ] as const) {
      it(longText, async () => {
        const world = await opened({ texts: { longText } });

        const { text, parts } = await sent(world, { text: LONG });

        expect(text).to.equal(LONG);
        expect(parts.map(({ concatenation }) => concatenation?.kind)).to.deep.equal(Array(count).fill(kind));
      });
    }
  });

  it('addresses: each kind of sender and recipient has its own TON and NPI', async () => {
    const world = await opened({
      addresses: {
        sourceName: { ton: 5, npi: 1, digits: 'plain' },
        sourceShort: { ton: 0, npi: 1, digits: 'plain' },
        sourceNational: { ton: 2, npi: 1, digits: 'national' },
        destination: { ton: 1, npi: 1, digits: 'plus' },
        rewriteSender: [{ prefix: 'OLD', replacement: 'NEW' }],
        country: '44',
      },
    });
    const seen = async (sender: string): Promise<string> => {
      const { parts } = await sent(world, { sender });
      const [one] = parts;
      return `${one?.fromTon}/${one?.fromNpi} ${one?.from} → ${one?.toTon}/${one?.toNpi} ${one?.to}`;
    };

    const to = '1/1 +919876543210';
    expect(await seen('HARKRA')).to.equal(`5/1 HARKRA → ${to}`);
    expect(await seen('OLDSHOP')).to.equal(`5/1 NEWSHOP → ${to}`);
    expect(await seen('56161')).to.equal(`0/1 56161 → ${to}`);
    expect(await seen('447911123456')).to.equal(`2/1 7911123456 → ${to}`);
  });

  it('a rewritten recipient gets the message, and its receipt still finds it', async () => {
    const rewriteRecipient = [{ prefix: '910', replacement: '91' }];
    const world = await opened({ addresses: { rewriteRecipient } });

    const { parts } = await sent(world, { to: '9109876543210' });

    expect(parts[0]?.to).to.equal('919876543210');
  });

  it('the other fields of submit_sm', async () => {
    const world = await opened({
      submits: {
        serviceType: 'BULK',
        validity: 'absolute',
        registeredDelivery: 17,
        messagingMode: 3,
        priorities: [3, 2, 1, 0, 0],
        tlvs: [
          { tag: 0x1403, type: 'string', value: '40410' },
          { tag: 0x1500, type: 'int2', value: '258' },
          { tag: 0x1501, type: 'cstring', value: 'a' },
          { tag: 0x1502, type: 'hex', value: '0aff' },
        ],
      },
    });

    const { parts } = await sent(world, { text: LONG, lane: 1 });

    for (const part of parts) {
      expect(part).to.include({ serviceType: 'BULK', registeredDelivery: 17, priority: 2, protocolId: 0 });
      expect(part.esmClass).to.equal(0x43);
      expect(part.validityPeriod).to.match(/^\d{12}000\+$/);
      expect([...part.tlvs].map(([tag, value]) => `${tag.toString(16)}:${value.toString('hex')}`)).to.deep.equal([
        '1403:3430343130',
        '1500:0102',
        '1501:6100',
        '1502:0aff',
      ]);
    }
  });

  for (const [receiptsFor, wanted, state] of [
    ['first', [1, 0], 'delivered'],
    ['last', [0, 1], 'delivered'],
    ['none', [0, 0], 'sent'],
  ] as const) {
    it(`registered_delivery for ${receiptsFor}: the message becomes ${state}`, async () => {
      const world = await opened({ submits: { receiptsFor, validity: 'none' } });

      await world.reaches(await world.send({ text: LONG }), state);

      const submits = world.smsc.messages();
      expect(submits.map(({ registeredDelivery }) => registeredDelivery)).to.deep.equal(wanted);
      expect(submits.map(({ validityPeriod }) => validityPeriod)).to.deep.equal(['', '']);
    });
  }
});
