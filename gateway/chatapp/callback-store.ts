import type { Db } from 'mongodb';
import { keepItems } from '../../shared/chat-inbox/store.ts';
import { recordInbound } from '../../shared/conversations/store.ts';
import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { Grouper } from '../../shared/runtime/grouper.ts';
import type { CallbackPost } from './read-callback.ts';

/** The most posts that share commands. */
const GROUP_MAX = 100;
/**
 * A post with more items is stored alone, because other posts would have to wait: the store needs a second for
 * thousands of items.
 */
const LARGE_POST = 250;

type Stored = { readonly error?: unknown };

/** Stores what providers post. Many posts share the same commands. */
export class CallbackStore {
  readonly #db: Db;
  readonly #grouper: Grouper<CallbackPost, Stored>;

  constructor(db: Db) {
    this.#db = db;
    this.#grouper = new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (posts) => this.#writeGroup(posts) });
  }

  /** Resolves when the post is stored. Rejects with the store's error. */
  async keep(post: CallbackPost): Promise<void> {
    if (post.items.length > LARGE_POST) return this.#write([post]);
    const { error } = await this.#grouper.add(post);
    if (error !== undefined) throw error;
  }

  async #writeGroup(posts: readonly CallbackPost[]): Promise<readonly Stored[]> {
    try {
      await this.#write(posts);
      return posts.map(() => ({}));
    } catch (error) {
      if (isStoreTrouble(error) || posts.length === 1) throw error;
      // One of the posts cannot be stored. The others are tried one by one.
      const ends = await Promise.allSettled(posts.map((post) => this.#write([post])));
      return ends.map((end) => (end.status === 'rejected' ? { error: end.reason } : {}));
    }
  }

  async #write(posts: readonly CallbackPost[]): Promise<void> {
    // The sessions are opened first: as soon as an item is stored, a worker may tell the customer's system, which may
    // answer at once.
    await recordInbound(
      this.#db,
      posts.flatMap(({ inbound }) => inbound),
    );
    crashPoint('callback:heard');
    await keepItems(
      this.#db,
      posts.flatMap(({ items }) => items),
    );
  }
}
