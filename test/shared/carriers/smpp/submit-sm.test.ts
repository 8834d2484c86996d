import fc from 'fast-check';
import smpp from 'smpp';
import { encodeSubmit, setSequence } from '../../../../shared/carriers/smpp/submit-sm.ts';

const octet = fc.integer({ min: 0, max: 255 });
const text = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength });
const octets = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));

const FIELDS = fc.record(
  {
    service_type: text(5),
    source_addr_ton: octet,
    source_addr_npi: octet,
    source_addr: text(20),
    dest_addr_ton: octet,
    dest_addr_npi: octet,
    destination_addr: text(20),
    esm_class: octet,
    priority_flag: octet,
    validity_period: text(16),
    registered_delivery: octet,
    data_coding: octet,
    short_message: octets(254),
    tlvs: fc.array(fc.record({ tag: fc.integer({ min: 0x1400, max: 0x3fff }), value: octets(40) }), { maxLength: 3 }),
  },
  {
    requiredKeys: [
      'source_addr_ton',
      'source_addr_npi',
      'source_addr',
      'dest_addr_ton',
      'dest_addr_npi',
      'destination_addr',
      'esm_class',
      'validity_period',
      'registered_delivery',
      'data_coding',
      'short_message',
    ],
  },
);

describe('encodeSubmit', () => {
  it('writes what the codec of the smpp package writes, then the TLVs in their order', () => {
    fc.assert(
      fc.property(FIELDS, fc.integer({ min: 1, max: 0x7fffffff }), ({ tlvs = [], ...fields }, sequence) => {
        const theirs = new smpp.PDU('submit_sm', { ...fields, sequence_number: sequence }).toBuffer();

        const ours = encodeSubmit({ ...fields, tlvs });
        setSequence(ours, sequence);

        expect(ours.readUInt32BE(0)).to.equal(ours.length);
        expect(ours.subarray(4, theirs.length).equals(theirs.subarray(4))).to.equal(true);
        const rest = tlvs.map(({ tag, value }) => [tag, value.length, value.toString('hex')]);
        expect(tlvsIn(ours.subarray(theirs.length))).to.deep.equal(rest);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses a short message that sm_length cannot tell', () => {
    const [fields] = fc.sample(FIELDS, { seed: 1, numRuns: 1 });
    if (fields === undefined) throw new Error('no sample');

    expect(() => encodeSubmit({ ...fields, short_message: Buffer.alloc(255) })).to.throw(RangeError, '255 octets');
  });
});

function tlvsIn(bytes: Buffer): readonly (readonly [tag: number, length: number, value: string])[] {
  const found: [number, number, string][] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt16BE(at + 2);
    found.push([bytes.readUInt16BE(at), length, bytes.toString('hex', at + 4, at + 4 + length)]);
    at += 4 + length;
  }
  return found;
}
