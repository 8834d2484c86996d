import { oneOf, setting, type Values, whole, yesNo } from './setting.ts';

/** How a text is written for a carrier. Segments are counted in GSM septets, whatever the alphabet. */
export const TEXTS = {
  alphabet: setting(
    oneOf(['gsm', 'gsm-packed', 'latin1', 'ascii']),
    'gsm',
    'the alphabet of its data_coding 0; a text that does not fit goes as UCS-2',
  ),
  textCoding: setting(whole('N', 0, 255), 0, 'data_coding of texts in that alphabet'),
  unicodeCoding: setting(whole('N', 0, 255), 8, 'data_coding of UCS-2 texts'),
  substitute: setting(
    yesNo,
    false,
    'replace typographic characters (‘ “ – … ₹ ç) by similar ones if that avoids UCS-2; never under DLT',
  ),
  longText: setting(oneOf(['udh8', 'udh16', 'sar', 'payload']), 'udh8', 'how the segments of a long text are joined'),
};

export type TextSettings = Values<typeof TEXTS>;
