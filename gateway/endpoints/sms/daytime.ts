import { countryOf } from '../../../shared/carriers/routing/country.ts';
import { type Daytimes, daytimeOpenings, daytimeWords, NEVER } from '../../../shared/carriers/routing/daytime.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import type { PlaceOf } from '../limits/recipients.ts';

/** Whom a request sends to, and the daytimes of account and route for each. */
export interface Held {
  readonly lane: number;
  readonly recipients: readonly string[];
  readonly placeOf: PlaceOf;
  daytimesOf(index: number): Daytimes;
}

/** When messages may be sent. */
interface Validity {
  readonly at: Date;
  readonly validUntil: Date;
}

/**
 * When the last of the messages may leave, if some must wait for the recipient's daytime. Those that would expire before refuse the
 * request. Costs nothing where neither account nor route has a daytime.
 */
export async function daytimeOf(
  { lane, recipients, placeOf, daytimesOf }: Held,
  { at, validUntil }: Validity,
): Promise<Refused | { readonly kind: 'held'; readonly until?: Date }> {
  const openingOf = daytimeOpenings(at);
  const problems = new FieldProblems();
  let until: Date | undefined;
  await inSlices(recipients, (to, index) => {
    const daytimes = daytimesOf(index);
    const opening = openingOf(daytimes, { to, lane });
    if (opening === undefined) return;
    if (until === undefined || opening > until) until = opening;
    if (opening < validUntil) return;
    const where = countryOf(to);
    const hours = daytimeWords(daytimes);
    const detail =
      opening === NEVER
        ? `Messages to ${where} may be sent from ${hours} there, and that is at no time so in all of its time zones. Ask your service provider for longer hours.`
        : `Messages to ${where} may be sent from ${hours} there, next on ${isoTimestamp(opening)}. Give a later \`valid_until\`: it would expire before.`;
    problems.add(placeOf(index), 'out_of_range', detail);
  });
  if (problems.count > 0) return { kind: 'refused', problem: invalidRequest(problems) };
  return until === undefined ? { kind: 'held' } : { kind: 'held', until };
}
