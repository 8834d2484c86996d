import type { MobileOriginated } from './mobile-originated.ts';
import { CODINGS, phoneParts, SPLITS } from './phone-text.ts';

/**
 * Handles `POST /smsc/says?from=…&to=…`: a phone sends the text in the body to one of our numbers. `coding` and `split` are as in
 * phone-text.ts. `repeat` says how often it is sent.
 */
export function phoneSays(smsc: { sendMo(message: MobileOriginated): void }, url: URL, text: string): object {
  const { searchParams } = url;
  const from = searchParams.get('from') ?? '';
  const to = searchParams.get('to') ?? '';
  const coding = CODINGS.find((one) => one === searchParams.get('coding'));
  const split = SPLITS.find((one) => one === searchParams.get('split'));
  const repeat = Number(searchParams.get('repeat') ?? 1);
  if (from === '' || to === '') throw new RangeError('say ?from=<phone>&to=<your number>');
  if (coding === undefined && searchParams.has('coding'))
    throw new RangeError(`coding is one of ${CODINGS.join(', ')}`);
  if (split === undefined && searchParams.has('split')) throw new RangeError(`split is one of ${SPLITS.join(', ')}`);
  if (!(repeat >= 1 && repeat <= 100_000)) throw new RangeError('repeat is 1 to 100000');
  let sent = 0;
  for (let i = 0; i < repeat; i++) {
    const parts = phoneParts({ from, to, text, coding, split });
    for (const part of parts) smsc.sendMo(part);
    sent += parts.length;
  }
  return { deliver_sm: sent };
}
