import { EXEMPTIONS } from '../../../shared/carriers/opt-outs/opt-out.ts';
import { choice, list } from '../../http/fields/field.ts';
import { line } from '../../http/fields/operator-fields.ts';

/** Fields that a new account and a changed one have in common. */
export const NAME = line('What people call it.', 100);
export const SENDERS = choice(
  ['any', 'registered'],
  '`registered`: only senders that are registered to the account and approved.',
);
export const DLT = choice(
  ['on', 'off'],
  "India's DLT: senders must be registered, texts must match approved templates.",
);
export const NUMBER_CHECK = choice(
  ['off', 'on', 'mobile'],
  "`on`: recipients must be numbers of their country's plan. `mobile`: they must be mobile numbers too.",
);
export const LINE_BREAKS = choice(
  ['any', 'exact'],
  'How texts are compared with DLT templates. `any`: CR LF, CR and LF are one line break. `exact`: they differ, for operators that compare octets.',
);
export const LOG = choice(['unusual', 'all'], 'Which receipts and answers of carriers are kept for its timelines.');
export const OPT_OUT_EXEMPT = list(choice(EXEMPTIONS), {
  description: 'Messages that go to customers who opted out, too.',
  maxItems: 2,
});
