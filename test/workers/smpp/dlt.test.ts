import { expect } from 'chai';
import { dltTlvs } from '../../../workers/smpp/dlt.ts';
import { openWorld, type World } from '../../support/smpp-world.ts';

const TEMPLATE = '1107160000000000001';
const ENTITY = '1101172974420810001';
const TELEMARKETER = '1101172974420830004';
const TAGS = { entityTag: 0x1400, templateTag: 0x1401, form: 'octet' } as const;

describe('DLT ids to the carrier', () => {
  it('the hash is of the entity and the telemarketers behind it', () => {
    const tlvs = dltTlvs({ entityId: ENTITY, template: TEMPLATE }, { ...TAGS, hashTag: 0x1402, chain: [TELEMARKETER] });

    expect(tlvs.map(({ tag, value }) => [tag, value.toString('latin1')])).to.deep.equal([
      [0x1400, ENTITY],
      [0x1401, TEMPLATE],
      // Facts: smpp §4.2.
      [0x1402, 'c0c951afca257c5b87c3da535c09112080483f35b7e6faf35e2428b3b526b694'],
    ]);
  });

  it('a C-octet string ends with NUL', () => {
    const tlvs = dltTlvs({ entityId: ENTITY, template: TEMPLATE }, { ...TAGS, form: 'cstring' });

    expect(tlvs.map(({ value }) => value.toString('latin1'))).to.deep.equal([`${ENTITY}\0`, `${TEMPLATE}\0`]);
  });

  it('what a message does not have is left out', () => {
    const hashed = { ...TAGS, hashTag: 0x1402, chain: [TELEMARKETER] };

    expect(dltTlvs({}, hashed)).to.deep.equal([]);
    expect(dltTlvs({ template: TEMPLATE }, hashed).map(({ tag }) => tag)).to.deep.equal([0x1401]);
  });

  describe('over a bind', () => {
    let world: World;
    after(() => world?.close());

    it('arrive with every segment, under the carrier’s own tags, and only where there are some', async () => {
      world = await openWorld({ carrier: { dlt: { ...TAGS, entityTag: 0x1501 } } });
      const text = 'a'.repeat(400);

      const long = await world.send({ to: '919876500001', text, template: TEMPLATE, entityId: ENTITY });
      const plain = await world.send({ to: '919876500002', text: 'hello' });
      await world.reaches(long, 'delivered');
      await world.reaches(plain, 'delivered');

      const submits = world.smsc.messages();
      const tlvsOf = (to: string): (readonly [number, string])[][] =>
        submits
          .filter((submit) => submit.to === to)
          .map(({ tlvs }) => [...tlvs].map(([tag, value]) => [tag, value.toString('latin1')] as const));
      const ids = [
        [0x1501, ENTITY],
        [0x1401, TEMPLATE],
      ];
      expect(tlvsOf('919876500001')).to.deep.equal([ids, ids, ids]);
      expect(tlvsOf('919876500002')).to.deep.equal([[]]);
      expect(world.smsc.texts().map((one) => one.text)).to.have.members([text, 'hello']);
    });
  });
});
