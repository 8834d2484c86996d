import { createRequire } from 'node:module';

/** The used parts of the npm package `split-sms`, which has no types. */
export interface SplitSms {
  readonly characterSet: 'GSM' | 'Unicode';
  readonly parts: readonly { readonly content: string; readonly bytes: number }[];
}

const { split } = createRequire(import.meta.url)('split-sms') as { split(text: string): SplitSms }; // from its README

export const splitSms = (text: string): SplitSms => split(text);
