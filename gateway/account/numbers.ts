import type { NumberDocument } from '../../shared/numbers/number.ts';
import { listNumbers } from '../../shared/numbers/store.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import type { ReadingDeps } from '../access/costly-reads.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { pageOf } from '../http/page.ts';

/** An account has some numbers, or some hundred keywords of a short code. They are one page. */
const NUMBERS_MAX = 1_000;
const COST = 2;

/** GET /v2/account/numbers (extension): the numbers, and keywords of shared numbers, whose received SMS are the account's. */
export function createOwnNumbers({ db, answerRead }: ReadingDeps): Handler {
  return async (_req, res: Reply) => {
    const account = callerOf(res).account._id;
    await answerRead(res, COST, async () => {
      const found = await listNumbers(db, account, NUMBERS_MAX);
      return pageOf('numbers', found.map(numberRecord), undefined);
    });
  };
}

function numberRecord({ number, keyword, country, createdAt }: NumberDocument): object {
  return {
    number,
    keyword: keyword === '' ? null : keyword,
    country: country ?? null,
    created_at: isoTimestamp(createdAt),
  };
}
