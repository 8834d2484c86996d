import { createHash } from 'node:crypto';
import type { CarrierDlt } from '../../../shared/carriers/carrier.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { Tlv } from '../session/submit-sm.ts';

/** The TLVs for India's DLT that the carrier wants: entity, template and hash, as far as the message has them. */
export function dltTlvs(
  { entityId, template }: Pick<MessageDocument, 'entityId' | 'template'>,
  { entityTag, templateTag, hashTag, chain, form }: CarrierDlt,
): readonly Tlv[] {
  const end = form === 'cstring' ? '\0' : '';
  const tlv = (tag: number, text: string): Tlv => ({ tag, value: Buffer.from(`${text}${end}`, 'latin1') });
  const tlvs: Tlv[] = [];
  if (entityId !== undefined) tlvs.push(tlv(entityTag, entityId));
  if (template !== undefined) tlvs.push(tlv(templateTag, template));
  if (entityId !== undefined && hashTag !== undefined && chain !== undefined) {
    tlvs.push(tlv(hashTag, chainHash([entityId, ...chain])));
  }
  return tlvs;
}

/**
 * The PE-TM chain hash that the last telemarketer before the operator sends with a message: SHA-256 over the ids from the
 * principal entity to the delivering telemarketer, joined by commas without spaces, as 64 lower-case hexadecimal digits
 * (BSNL, "PE TM Mapping Chain Hash Logic"; enforced since December 2024).
 */
function chainHash(ids: readonly string[]): string {
  return createHash('sha256').update(ids.join(',')).digest('hex');
}
