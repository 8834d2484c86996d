import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readNumberFile } from '../../../scripts/ops/input.ts';
import { customersOf } from '../../../scripts/ops/opt-lists.ts';
import { addOptIns, listOptIns, optedInOf, removeOptIn } from '../../../shared/carriers/chat-opt-in-store.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { useStore } from '../../support/store.ts';

const ASHA = '919876543210';
const RAVI = '919876543211';

describe('opt-ins', () => {
  const store = useStore();
  let account: AccountId;
  const clock = new ManualClock();
  beforeEach(() => {
    account = newId('acc');
  });

  it('hold for the account that was told, until they are taken back', async () => {
    expect(await addOptIns(store.db, clock, account, [ASHA])).to.equal(1);

    const optedIn = async (of: AccountId) => [...(await optedInOf(store.db, of, [ASHA, RAVI], async () => new Map()))];
    expect(await optedIn(account)).to.deep.equal([ASHA]);
    expect(await optedIn(newId('acc'))).to.deep.equal([]);
    expect(await removeOptIn(store.db, account, [RAVI, ASHA])).to.equal(true);
    expect(await optedIn(account)).to.deep.equal([]);
    expect(await removeOptIn(store.db, account, [ASHA])).to.equal(false);
  });

  it('hold under every name of a person', async () => {
    await addOptIns(store.db, clock, account, [ASHA]);

    const names = async (customers: readonly string[]) =>
      new Map(customers.map((one) => [one, { names: [one, ASHA] }]));
    expect([...(await optedInOf(store.db, account, ['IN.1', RAVI], names))]).to.deep.equal(['IN.1', RAVI]);
  });

  it('keep the time of the first word', async () => {
    const first = clock.now();
    await addOptIns(store.db, clock, account, [ASHA]);
    clock.turn(60_000);

    expect(await addOptIns(store.db, clock, account, [ASHA, RAVI])).to.equal(1);

    const [asha, ravi] = await listOptIns(store.db, account, 10);
    expect(asha).to.deep.equal({ _id: `${account}:${ASHA}`, account, customer: ASHA, at: first });
    expect(ravi?.at).to.deep.equal(clock.now());
  });

  it('are added and listed in any number', async () => {
    const customers = Array.from({ length: 2_500 }, (_, i) => String(919_000_000_000 + i));

    expect(await addOptIns(store.db, clock, account, customers)).to.equal(2_500);

    const page = await listOptIns(store.db, account, 3, customers[1]);
    expect(page.map(({ customer }) => customer)).to.deep.equal(customers.slice(2, 5));
    expect(await listOptIns(store.db, account, 5_000)).to.have.length(2_500);
  });
});

describe('a file of customers', () => {
  const dir = mkdtempSync(join(tmpdir(), 'harkara-list-'));
  after(() => rmSync(dir, { recursive: true }));

  async function listOf(text: string) {
    writeFileSync(join(dir, 'list.csv'), text, 'latin1');
    return customersOf(await readNumberFile(join(dir, 'list.csv')), (written) => written);
  }

  it('has a number a line, each once', async () => {
    const text = `\ufeff# agreed in the shop\n${ASHA}\r\n\n ${RAVI} # by mail\n${ASHA}\n`;

    expect(await listOf(text)).to.deep.equal({ customers: [ASHA, RAVI], problems: [] });
  });

  it('may have them as people write them and spreadsheets protect them', async () => {
    expect(await listOf(`customer;name\n+${ASHA};José\n="${RAVI}";Ravi\nUS.13491208655302741918;\n`)).to.deep.equal({
      customers: [ASHA, RAVI, 'US.13491208655302741918'],
      problems: [],
    });
  });

  it('tells which lines are no numbers', async () => {
    const { customers, problems } = await listOf(`${ASHA}\n00${RAVI}\nAsha,${ASHA}\n`);

    expect(customers).to.deep.equal([ASHA]);
    expect(problems.map(({ line }) => line)).to.deep.equal([2, 3]);
    expect(problems[0]?.detail).to.include('Remove the leading 00');
  });
});
