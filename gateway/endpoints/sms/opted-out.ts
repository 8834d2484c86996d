import type { Db } from 'mongodb';
import { blocks, isExempt, readRecipientScopes } from '../../../shared/carriers/opt-outs/store.ts';
import type { BatchEntry } from '../../../shared/messages/batch.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import type { Caller } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import type { Problem } from '../../http/idempotency/action.ts';

/** The most recipients in one query. */
const QUERY_MAX = 1_000;
const NOBODY: ReadonlySet<string> = new Set();

/**
 * The recipients who have opted out of such messages (`sending`) of the account. Costs one query per thousand recipients. Accounts
 * that never had an opt-out (`optOuts`, at most 4 s old) cost nothing. Rejects with the store's error.
 */
export async function optedOutOf(
  db: Db,
  { _id, optOuts, optOutExempt }: Caller['account'],
  sending: Pick<MessageDocument, 'sender' | 'route' | 'lane'>,
  recipients: readonly string[],
): Promise<ReadonlySet<string>> {
  if (optOuts !== true || isExempt(sending, optOutExempt)) return NOBODY;
  const found = new Set<string>();
  for (let start = 0; start < recipients.length; start += QUERY_MAX) {
    const scopes = await readRecipientScopes(db, _id, recipients.slice(start, start + QUERY_MAX));
    for (const [customer, of] of scopes) if (blocks(of, sending.sender)) found.add(customer);
  }
  return found;
}

/**
 * The 403 for a batch. It lists the entries of recipients who have opted out, up to a limit. `list` is the caller's name of the
 * list.
 */
export async function optedOutEntries(
  entries: readonly BatchEntry[],
  out: ReadonlySet<string>,
  list: EntryList,
): Promise<Problem> {
  const problems = new FieldProblems();
  await inSlices(entries, ({ to }, i) => {
    if (!out.has(to)) return;
    problems.add(placeOf(list, i), 'recipient_opted_out', 'This customer has opted out.');
  });
  const [, { errors = [], extra = {} }] = invalidRequest(problems);
  const detail =
    problems.count === entries.length
      ? 'All recipients have opted out, so there is nobody to send to.'
      : `${problems.count} of ${entries.length} recipients have opted out. Remove them, or send \`skip_opted_out: true\`.`;
  return ['recipient_opted_out', { detail, errors, extra }];
}

/** The names of lists of recipients in a request. */
type EntryList = 'to' | 'recipients';

/** The place of a recipient in the request. */
export function placeOf(list: EntryList, index: number): string {
  return list === 'to' ? `to[${index}]` : `recipients[${index}].to`;
}
