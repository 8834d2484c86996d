import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { queuedMessage } from '../../../../shared/messages/document/message.ts';
import { queuedChatMessage } from '../../../../shared/money/conversations/decide.ts';
import { endChatAttempt, findAcceptedChat, insertBy } from '../../../../shared/money/conversations/include.ts';
import { debitEach, declareOver } from '../../../../shared/money/payment/debit.ts';
import { findAccepted } from '../../../../shared/money/payment/pending.ts';
import { connectStore, type Store } from '../../../../shared/platform/mongo/connect.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { type EmbeddedStore, startEmbeddedStore } from '../../../../workers/embedded-db/server.ts';
import { balanceOf } from '../../../support/balance.ts';
import { makeTemplateDraft } from '../../../support/chat.ts';
import { everyOrder } from '../../../support/every-order.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';

/** Another primary or router has its own clock, by which an expired time may not be over. */
describe('a time to pay, in a store whose clock goes back', () => {
  const PAY_BY = new Date('2026-11-21T10:00:00Z');
  const [BEFORE, AFTER] = [PAY_BY.getTime() - 5_000, PAY_BY.getTime() + 5_000];
  /** The first readings of the clock that are tried both ways, more than a run's commands depend on. */
  const LOOKS = 4;
  let dir: string;
  let server: EmbeddedStore;
  let store: Store;
  /** Bit n: whether the nth reading of the clock is after the time to pay. */
  let clocks = 0;
  let looks = 0;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'harkara-clock-'));
    const now = () => ((clocks >> Math.min(looks++, LOOKS - 1)) & 1 ? AFTER : BEFORE);
    server = await startEmbeddedStore({ dir, durability: 'none', now });
    store = await connectStore({ mongodbUri: server.uri, dataDir: '', mongodbDatabase: 'x' });
  });
  after(async () => {
    await store.close();
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  type Actors = readonly ((db: Db) => Promise<unknown>)[];
  /** Runs actors in every order of commands, with every combination of clock readings. */
  async function always(begin: () => Promise<{ actors: Actors; check: () => Promise<void> }>): Promise<void> {
    for (clocks = 0; clocks < 2 ** LOOKS; clocks++) {
      const orders = await everyOrder(store.db, ['accounts', 'messages', 'queue', 'ledger'], async () => {
        const world = await begin();
        looks = 0;
        return world;
      });
      expect(orders).to.be.greaterThan(1);
    }
  }

  it('pays nothing any more once somebody has found it over and nothing paid', async () => {
    const seen = { over: 0, paid: 0 };
    await always(async () => {
      const account = await makeAccount(store.db, 5);
      const group = newId('grp');
      const message = queuedMessage(account, group, makeDraft());
      const request = { account, group, messages: [message], today: '2026-11-21', done: [], payBy: PAY_BY };
      let free = false;
      return {
        actors: [
          (db) => debitEach(db, [request]),
          async (db) => {
            const over = await declareOver(db, account, PAY_BY);
            const found = await findAccepted(db, account, message._id);
            free = over && found === undefined;
          },
        ],
        check: async () => {
          const paid = (await balanceOf(store.db, account)) !== 5;
          expect(free && paid, `freed and paid, clocks ${clocks}`).to.equal(false);
          if (free) seen.over += 1;
          if (paid) seen.paid += 1;
        },
      };
    });
    expect(seen.over).to.be.greaterThan(0);
    expect(seen.paid).to.be.greaterThan(0);
  });

  it('stores no free message any more once somebody has found it over and nothing stored', async () => {
    const seen = { over: 0, stored: 0 };
    await always(async () => {
      const account = await makeAccount(store.db, 5);
      const message = included(account);
      let free = false;
      return {
        actors: [
          (db) => insertBy(db, message, PAY_BY),
          async (db) => {
            const over = await endChatAttempt(db, account, message._id, PAY_BY);
            const found = await findAcceptedChat(db, account, message._id);
            free = over && found === undefined;
          },
        ],
        check: async () => {
          const stored = (await findAcceptedChat(store.db, account, message._id)) !== undefined;
          expect(free && stored, `freed and stored, clocks ${clocks}`).to.equal(false);
          if (free) seen.over += 1;
          if (stored) seen.stored += 1;
        },
      };
    });
    expect(seen.over).to.be.greaterThan(0);
    expect(seen.stored).to.be.greaterThan(0);
  });

  it('answers both attempts to store a free message alike: it is stored, or never will be', async () => {
    await always(async () => {
      const account = await makeAccount(store.db, 5);
      const message = included(account);
      const answers: boolean[] = [];
      const attempt = async (db: Db) => answers.push(await insertBy(db, message, PAY_BY));
      return {
        actors: [attempt, attempt],
        check: async () => {
          const stored = (await findAcceptedChat(store.db, account, message._id)) !== undefined;
          expect(answers, `clocks ${clocks}`).to.deep.equal([stored, stored]);
        },
      };
    });
  });

  function included(account: AccountId): ChatMessageDocument {
    const at = new Date(BEFORE);
    return queuedChatMessage(account, makeTemplateDraft(), {
      ...{ id: newId('cnv'), opener: newId('msg'), group: newId('grp') },
      ...{ number: 1, by: 'business', credits: 2, openedAt: at, until: at, customer: '919876543210' },
    });
  }
});
