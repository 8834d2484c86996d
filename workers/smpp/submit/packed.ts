const CR = 0x0d;

/**
 * Packs septets, given one per octet, eight into seven octets (3GPP TS 23.038 §6.1.2.1). `fillBits` come first: after a header
 * they move the text to a septet boundary (3GPP TS 23.040 §9.2.3.24). If seven bits are left over at the end, a phone would show
 * one more character, @. A carriage return fills them instead, and shows nothing (§6.1.2.3.1).
 */
export function packSeptets(septets: Buffer, fillBits: number): Buffer {
  const bits = fillBits + 7 * septets.length;
  const ends = bits % 8 === 1 || (bits % 8 === 0 && septets.at(-1) === CR);
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
