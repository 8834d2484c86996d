import { CARRIER_DEFAULTS, type CarrierDlt } from '../../../shared/carriers/carrier.ts';
import { checkCarrier } from '../../../shared/carriers/carrier-form.ts';
import { BASICS } from '../../../shared/carriers/settings/basics.ts';
import type { Settings } from '../../../shared/carriers/settings/setting.ts';
import { GROUP_NAMES, GROUPS, type StoredGroups } from '../../../shared/carriers/settings/table.ts';

const GOOD = {
  ...CARRIER_DEFAULTS,
  ...{ _id: 'acme', name: 'Acme', host: 'smsc.example', port: 2775, systemId: 'us', password: 'secret' },
};
const TABLES: readonly Settings[] = [BASICS, ...GROUP_NAMES.map((name) => GROUPS[name])];

const problems = (groups: StoredGroups & { bindKind?: 'pair'; dlt?: CarrierDlt; host?: string }): string => {
  try {
    checkCarrier({ ...GOOD, ...groups });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('settings of a carrier', () => {
  it('have names of their own: each is one option', () => {
    const names = TABLES.flatMap((table) => Object.keys(table));

    expect(new Set(names).size).to.equal(names.length);
  });

  it('take their own defaults, and the text that is shown of them', () => {
    for (const [name, { standard, show, parse, valid, file }] of TABLES.flatMap((table) => Object.entries(table))) {
      expect(valid?.(standard) ?? parse(show(standard)) !== undefined, name).to.equal(true);
      if (!file) expect(parse(show(standard)), name).to.deep.equal(standard);
    }
  });

  const texts: readonly (readonly [string, string])[] = [
    ['sourceShort', '3/0/plus'],
    ['destination', '1/1/national'],
    ['rewriteRecipient', '00=,910=91'],
    ['rewriteSender', 'OLD=NEW,X='],
    ['priorities', '3,2,1,0,0'],
    ['tlvs', '0x1403:string:40410,0x1500:int2:65535,0x1501:hex:0aff,0x1502:cstring:'],
    ['otherHosts', 'b.example:2775,[2001:db8::1]:3550'],
    ['bindAddress', '1/1'],
    ['country', '91'],
  ];
  for (const [name, text] of texts) {
    it(`${name} is read from ${text} and shown as that`, () => {
      const setting = TABLES.map((table) => table[name]).find((one) => one !== undefined);

      expect(setting?.show(setting.parse(text))).to.equal(text);
    });
  }

  const refused: readonly (readonly [string, string])[] = [
    ['sourceShort', '256/0'],
    ['sourceShort', '1/1/short'],
    ['rewriteRecipient', '+91=91'],
    ['priorities', '1,2,3'],
    ['tlvs', '0x1500:int1:256'],
    ['tlvs', '0x0424:string:payload'],
    ['tlvs', '0x1501:hex:0'],
    ['otherHosts', 'b.example'],
    ['otherHosts', 'b.example:70000'],
    ['addressRange', 'x'.repeat(41)],
    ['serviceType', 'SIXSIX'],
    ['alphabet', 'utf-8'],
    ['tlsCa', 'not a certificate'],
  ];
  for (const [name, text] of refused) {
    it(`${name} is not ${text.slice(0, 20)}`, () => {
      const setting = TABLES.map((table) => table[name]).find((one) => one !== undefined);

      expect(setting?.parse(text)).to.equal(undefined);
    });
  }

  it('a carrier of before has none of the groups, and is valid', () => {
    expect(problems({})).to.equal('');
  });

  it('a wrong one is named with its group', () => {
    expect(problems({ texts: { textCoding: 256 }, submits: { messagingMode: -1 } })).to.equal(
      'texts.textCoding: 0 to 255. submits.messagingMode: 0 to 3.',
    );
  });

  it('a host with its port in it is told: it would be taken for a name that does not exist', () => {
    for (const host of ['smsc.example:2775', '192.0.2.7:2775', '[2001:db8::1]', '[2001:db8::1]:2775', 'smpp://smsc']) {
      expect(problems({ host }), host).to.equal('host: a host name or an address, without a port.');
    }
    for (const host of ['smsc.example', '192.0.2.7', '2001:db8::1', '::1', '::ffff:192.0.2.7', 'fe80::1%eth0']) {
      expect(problems({ host }), host).to.equal('');
    }
  });

  it('what does not go together is told', () => {
    expect(problems({ submits: { interfaceVersion: '3.3' }, texts: { longText: 'sar' } })).to.include('texts.longText');
    expect(problems({ links: { receiverHosts: [{ host: 'b', port: 1 }] } })).to.include('bindKind pair');
    expect(problems({ links: { receiverHosts: [{ host: 'b', port: 1 }] }, bindKind: 'pair' })).to.equal('');
    const tlv = { tag: 0x1400, type: 'string', value: 'x' } as const;
    const dlt = { entityTag: 0x1400, templateTag: 0x1401, form: 'octet' } as const;
    expect(problems({ submits: { tlvs: [tlv, tlv] } })).to.equal('submits.tlvs: each tag once.');
    expect(problems({ submits: { tlvs: [tlv] }, dlt })).to.equal('submits.tlvs: dlt has 0x1400 already.');
    expect(problems({ submits: { tlvs: [{ ...tlv, tag: 0x1402 }] }, dlt })).to.equal('');
    const national = { ton: 2, npi: 1, digits: 'national' } as const;
    expect(problems({ addresses: { sourceNational: national } })).to.include('addresses.country');
    expect(problems({ addresses: { sourceNational: national, country: '91' } })).to.equal('');
  });
});
