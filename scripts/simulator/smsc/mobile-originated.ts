import { encodeGsm7, encodeUcs2, fitsGsm7 } from '../smpp/text.ts';
import type { DeliverSm } from './deliver-sm.ts';

/** A message from a phone. `text` is encoded, unless `userData` is given. */
export interface MobileOriginated extends Partial<DeliverSm> {
  readonly from: string;
  readonly to: string;
  readonly text?: string;
  /** The account that gets the message. If it is absent, exactly one account must be bound. */
  readonly systemId?: string;
}

/**
 * Numbers are international ISDN unless the caller says otherwise. If `userData` has a header, the caller must set the UDH
 * indicator in `esmClass`.
 */
const DEFAULTS = { fromTon: 1, fromNpi: 1, toTon: 1, toNpi: 1, esmClass: 0, tlvs: new Map<number, Buffer>() };

export function phoneMessage(message: MobileOriginated): DeliverSm {
  const text = message.text ?? '';
  const isGsm = fitsGsm7(text);
  return {
    ...DEFAULTS,
    dataCoding: isGsm ? 0 : 8,
    userData: isGsm ? encodeGsm7(text) : encodeUcs2(text),
    ...message,
  };
}
