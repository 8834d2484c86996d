const CR = 0x0d;
/** The user data of a radio message, with its header (3GPP TS 23.040 §9.2.3.16). */
const MAX_OCTETS = 140;

/**
 * Packs septets, given one per octet, eight into seven octets (3GPP TS 23.038 §6.1.2.1). After a header of `headerOctets` octets,
 * fill bits come first, so that the text begins at a septet boundary (3GPP TS 23.040 §9.2.3.24). If seven bits are left over at the
 * end, a phone would show one more character, @. A carriage return fills them instead, and shows nothing (§6.1.2.3.1). If the text
 * itself ends with a carriage return in the last bits of an octet, that is doubled, so that it is not taken for such filling; not
 * in a full message, which has no filling.
 */
export function packSeptets(septets: Buffer, headerOctets: number): Buffer {
  const fillBits = (7 - ((headerOctets * 8) % 7)) % 7;
  const bits = fillBits + 7 * septets.length;
  const isFull = headerOctets + bits / 8 === MAX_OCTETS;
  const ends = bits % 8 === 1 || (bits % 8 === 0 && septets.at(-1) === CR && !isFull);
  const padded = ends && septets.length > 0 ? Buffer.concat([septets, Buffer.of(CR)]) : septets;
  const packed = Buffer.alloc(Math.ceil((fillBits + 7 * padded.length) / 8));
  for (const [i, septet] of padded.entries()) {
    const bit = fillBits + 7 * i;
    const shifted = septet << (bit % 8);
    packed[bit >> 3] = (packed[bit >> 3] ?? 0) | (shifted & 0xff);
    if (shifted > 0xff) packed[(bit >> 3) + 1] = shifted >> 8;
  }
  return packed;
}
