import { readFileSync } from 'node:fs';
import { setChain } from '../../../../shared/carriers/chain.ts';
import { queuedMessage } from '../../../../shared/messages/document/message.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { dltTlvs } from '../../../../workers/smpp/submit/encode.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { enqueue } from '../../../support/queue.ts';
import { CARRIER, openWorld, type World } from '../../../support/smpp-world.ts';

const fixture = new URL('../../../fixtures/dlt-hash.json', import.meta.url);
const { cases }: { cases: readonly { chain: readonly string[]; hash: string }[] } = JSON.parse(
  readFileSync(fixture, 'utf8'),
);
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
      // SHA-256 of the two ids, joined by a comma.
      [0x1402, 'c0c951afca257c5b87c3da535c09112080483f35b7e6faf35e2428b3b526b694'],
    ]);
  });

  it('there are vectors', () => {
    expect(cases).to.have.length.greaterThan(2);
  });

  for (const { chain, hash } of cases) {
    it(`hashes a chain of ${chain.length} from ${chain[0]} as the vector says`, () => {
      const [entityId = '', ...telemarketers] = chain;
      const [, tlv] = dltTlvs({ entityId }, { ...TAGS, hashTag: 0x1402, chain: telemarketers });

      expect(tlv?.value.toString('latin1')).to.equal(hash);
    });
  }

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
    afterEach(() => world?.close());

    it('an account with telemarketers of its own has its own hash at that carrier, the others the carrier’s', async () => {
      world = await openWorld({ carrier: { dlt: { ...TAGS, hashTag: 0x1402, chain: [TELEMARKETER] } } });
      const send = async (account: AccountId, to: string): Promise<void> => {
        const message = queuedMessage(account, newId('grp'), makeDraft({ to, template: TEMPLATE, entityId: ENTITY }));
        await enqueue(world.db, [message]);
        await world.reaches(message._id, 'delivered');
      };
      const hashOf = (to: string) => {
        const submit = world.smsc.messages().find((one) => one.to === to);
        return submit?.tlvs.get(0x1402)?.toString('latin1');
      };

      const reseller = await makeAccount(world.db, 1);
      await setChain(world.db, reseller, CARRIER, ['1101172974420820002', TELEMARKETER]);
      await setChain(world.db, reseller, 'another', ['1101172974420899999']);
      await send(await makeAccount(world.db, 1), '919876500011');
      await send(reseller, '919876500012');

      // Both hashes are in test/fixtures/dlt-hash.json.
      expect(hashOf('919876500011')).to.equal('c0c951afca257c5b87c3da535c09112080483f35b7e6faf35e2428b3b526b694');
      expect(hashOf('919876500012')).to.equal('ba38bbe4ab3780a70aad6071c006e720eed8efc1ff70b00691d3b6844e6497e2');
    });

    it('a carrier with a tag for the hash and no chain gets one only of accounts that have their own', async () => {
      world = await openWorld({ carrier: { dlt: { ...TAGS, hashTag: 0x1402 } } });
      const [plain, reseller] = [await makeAccount(world.db, 1), await makeAccount(world.db, 1)];
      await setChain(world.db, reseller, CARRIER, [TELEMARKETER]);
      const sent = [plain, reseller].map((account, i) =>
        queuedMessage(
          account,
          newId('grp'),
          makeDraft({ to: `91987650002${i}`, template: TEMPLATE, entityId: ENTITY }),
        ),
      );

      await enqueue(world.db, sent);
      await world.allReach(
        sent.map(({ _id }) => _id),
        'delivered',
      );

      const tags = (to: string) => [
        ...(world.smsc
          .messages()
          .find((one) => one.to === to)
          ?.tlvs.keys() ?? []),
      ];
      expect(tags('919876500020')).to.deep.equal([0x1400, 0x1401]);
      expect(tags('919876500021')).to.deep.equal([0x1400, 0x1401, 0x1402]);
    });

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
