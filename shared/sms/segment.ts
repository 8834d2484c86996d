/** GSM7: the GSM 03.38 default alphabet and its extension table, one octet each; UCS2: UTF-16BE. 3GPP TS 23.038. */
export type Encoding = 'GSM7' | 'UCS2';
