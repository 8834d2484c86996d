import type { Db } from 'mongodb';
import { eventually } from './eventually.ts';
import type { TroubleAnswer, TroubleWorld } from './trouble-world.ts';

const PATIENCE_MS = 60_000;

/** Fails unless each answer was a 200, or a 503 that says what is known and, if nothing was done, when to retry. */
export function expectClear(answers: readonly TroubleAnswer[]): void {
  for (const { status, code, retryAfter } of answers) {
    if (status === 200) continue;
    expect([status, code]).to.deep.include(503);
    expect(code).to.be.oneOf(['store_unavailable', 'outcome_unknown']);
    if (code === 'store_unavailable') expect(Number(retryAfter)).to.be.within(1, 60);
  }
}

export const acceptedIds = (answers: readonly TroubleAnswer[]): string[] =>
  answers.flatMap(({ status, messageId }) => (status === 200 && messageId !== undefined ? [messageId] : []));

/**
 * Fails unless all messages are delivered, everything accepted is stored, and exactly what is stored was paid for. `db`
 * is a connection without trouble.
 */
export async function expectWhole(world: TroubleWorld, db: Db, answers: readonly TroubleAnswer[]): Promise<void> {
  const { messages, charged, problems } = await eventually(
    async () => {
      const audit = await world.audit(db);
      const open = audit.messages.filter(({ state }) => state !== 'delivered');
      if (open.length > 0) throw new Error(`${open.length} are not delivered: ${JSON.stringify(open[0])}`);
      return audit;
    },
    'all are delivered',
    PATIENCE_MS,
  );
  expect(problems).to.deep.equal([]);
  expect(charged).to.equal(messages.length);
  const stored = new Set<string>(messages.map(({ _id }) => _id));
  expect(acceptedIds(answers).filter((id) => !stored.has(id))).to.deep.equal([]);
  const unclear = answers.filter(({ code }) => code === 'outcome_unknown').length;
  expect(stored.size - acceptedIds(answers).length).to.be.within(0, unclear);
  const numbers = world.smsc.messages().map(({ to }) => to);
  expect(numbers.sort(), 'each is submitted once').to.deep.equal(messages.map(({ to }) => to).sort());
}
