import request from 'supertest';
import { ledgerFile } from '../../../../gateway/endpoints/ledger/ledger.ts';
import type { AccountDocument, LedgerReason } from '../../../../shared/money/accounts/account.ts';
import { type LedgerEntryDocument, ledgerCollection, ledgerEntryId } from '../../../../shared/money/ledger/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

const START = new Date('2026-11-01T00:00:00Z').getTime();
const HOUR_MS = 3_600_000;

describe('the statement, filtered and as a file', () => {
  const site = accountAtGateway(0);

  const ask = (path: string, as = site.key) => request(site.url).get(path).set('Authorization', `Bearer ${as}`);
  /** A change every hour from 1 November on; every tenth is a top-up. */
  async function enter(count: number, of: (seq: number) => Partial<LedgerEntryDocument> = () => ({})): Promise<void> {
    const { account, db } = site;
    const entries = Array.from({ length: count }, (_, i): LedgerEntryDocument => {
      const seq = i + 1;
      const reason: LedgerReason = seq % 10 === 1 ? 'top_up' : 'send';
      return {
        ...{
          _id: ledgerEntryId(account, seq),
          account,
          seq,
          amount: reason === 'send' ? -1 : 100,
          balanceAfter: 1,
          reason,
        },
        ...{ change: newId('grp'), at: new Date(START + seq * HOUR_MS) },
        ...of(seq),
      };
    });
    await ledgerCollection(db).insertMany(entries);
    await db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $set: { seq: count } });
  }
  async function walk(query: string): Promise<number[]> {
    const seen: number[] = [];
    let cursor = '';
    do {
      const { body } = await ask(`/v2/ledger?${query}${cursor}`);
      seen.push(...body.data.map(({ seq }: { seq: number }) => seq));
      cursor = body.has_more ? `&cursor=${body.next_cursor}` : '';
    } while (cursor !== '');
    return seen;
  }
  const hour = (seq: number): string => new Date(START + seq * HOUR_MS).toISOString();

  it('by reason, also when far apart', async () => {
    await enter(2_500, (seq) => (seq === 7 ? { reason: 'refund' } : {}));

    expect(await walk('reason=refund')).to.deep.equal([7]);
    expect(await walk('reason=top_up&limit=100')).to.have.lengthOf(250);
    expect((await walk('reason=top_up&limit=7')).slice(0, 3)).to.deep.equal([2_491, 2_481, 2_471]);
  });

  it('by time: from the first, before the second', async () => {
    await enter(50);

    expect(await walk(`since=${hour(47)}`)).to.deep.equal([50, 49, 48, 47]);
    expect(await walk(`until=${hour(3)}`)).to.deep.equal([2, 1]);
    expect(await walk(`since=${hour(10)}&until=${hour(13)}&limit=2`)).to.deep.equal([12, 11, 10]);
    expect(await walk(`since=${hour(10)}&until=${hour(31)}&reason=top_up`)).to.deep.equal([21, 11]);
    expect(await walk(`until=${hour(0)}`)).to.deep.equal([]);
    expect(await walk(`since=${hour(51)}`)).to.deep.equal([]);
  });

  it('by time, also while changes in the midst are not entered yet', async () => {
    const { account, db } = site;
    await enter(16);
    const waits = [4, 5, 8, 10, 12];
    const entries = await ledgerCollection(db).find({ account }).toArray();
    for (const { seq, change, amount, balanceAfter, reason, at } of entries.filter((one) => waits.includes(one.seq))) {
      await db
        .collection<AccountDocument>('accounts')
        .updateOne({ _id: account }, { $set: { [`pending.${change}`]: { seq, amount, balanceAfter, reason, at } } });
    }
    await ledgerCollection(db).deleteMany({ account, seq: { $in: waits } });

    for (let until = 1; until <= 17; until++) {
      const earlier = Array.from({ length: until - 1 }, (_, i) => until - 1 - i);
      expect(await walk(`until=${hour(until)}`), `until ${until}`).to.deep.equal(earlier);
      expect(await walk(`until=${hour(until)}&limit=3`), `until ${until}, in pages`).to.deep.equal(earlier);
    }
  });

  it('as a file: every entry once, and no formula', async () => {
    const batch = newId('bat');
    await enter(1_203, (seq) => ({
      reference: seq === 1 ? '=HYPERLINK("http://evil.example","x")' : batch,
      ...(seq === 2 ? { schedules: [newId('sch'), newId('sch')] } : {}),
    }));

    const answer = await ask('/v2/ledger.csv');

    expect(answer.headers['content-type']).to.equal('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).to.equal('attachment; filename="statement.csv"');
    const lines = answer.text.split('\r\n');
    expect(lines).to.have.lengthOf(1_205);
    expect(lines[0]).to.equal(
      'seq,at,amount,balance_after,reason,reference,schedule_ids,change_id,message_count,message_ids,numbers,references,explanation,repeats,note',
    );
    expect(lines.slice(1, -1).map((line) => Number(line.split(',')[0]))).to.deep.equal(
      Array.from({ length: 1_203 }, (_, i) => 1_203 - i),
    );
    expect(lines[1]).to.match(new RegExp(`^1203,2026-12-21T03:00:00\\+00:00,-1,1,send,${batch},,grp_`));
    expect(lines[1_202]).to.match(/,sch_\w+ sch_\w+,/);
    expect(lines[1_203]).to.include(`"'=HYPERLINK(""http://evil.example"",""x"")"`);
    expect((await ask(`/v2/ledger.csv?until=${hour(3)}`)).text.split('\r\n')).to.have.lengthOf(4);
    expect((await request(site.url).head('/v2/ledger.csv').set('Authorization', `Bearer ${site.key}`)).status).to.equal(
      200,
    );
  });

  it('as a file that would be too long: its last line says so, and how to go on', async () => {
    await enter(1_203);
    const { db, account } = site;
    const file = async (until?: string) => {
      const filter = until === undefined ? {} : { until: new Date(until) };
      const pieces = [];
      for await (const piece of ledgerFile(db, systemClock, account, filter, 1_000)) pieces.push(piece);
      return pieces.join('').split('\r\n').slice(0, -1);
    };

    const lines = await file();

    const [, until] =
      /^Cut off after 1000 entries\. Ask for older ones with until=(\S+),{14}$/.exec(lines.at(-1) ?? '') ?? [];
    const rest = await file(until);
    const seqs = [...lines.slice(1, -1), ...rest.slice(1)].map((line) => Number.parseInt(line, 10));
    expect([...new Set(seqs)]).to.deep.equal(Array.from({ length: 1_203 }, (_, i) => 1_203 - i));
  });

  it("never another account's", async () => {
    await enter(3);
    const key = await makeKey(site.db, await makeAccount(site.db, 0));

    expect((await ask('/v2/ledger?reason=send', key)).body.data).to.deep.equal([]);
    expect((await ask('/v2/ledger.csv', key)).text.split('\r\n')).to.have.lengthOf(2);
  });

  for (const query of ['reason=gift', 'since=yesterday', 'until=2026-11-21', 'reasons=send']) {
    it(`400: ${query}`, async () => {
      expectProblem(await ask(`/v2/ledger?${query}`), 'invalid_request');
      expectProblem(await ask(`/v2/ledger.csv?${query}`), 'invalid_request');
    });
  }

  it('403 for a key that may only send; 429 for one with too few requests left', async () => {
    expectProblem(await ask('/v2/ledger.csv', await makeKey(site.db, site.account, ['send'])), 'scope_missing');
    const slow = await makeKey(site.db, site.account, ['read'], undefined, 20);
    expect((await ask('/v2/ledger.csv', slow)).status).to.equal(200);
    expectProblem(await ask('/v2/ledger.csv', slow), 'rate_limited');
  });
});
