import type { Db } from 'mongodb';
import { keepItems } from '../../shared/chat-inbox/store.ts';
import { recordInbound } from '../../shared/conversations/store.ts';
import { isStoreTrouble } from '../../shared/mongo/errors.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { Grouper } from '../../shared/runtime/grouper.ts';
import type { CallbackPost } from './read-callback.ts';

/** Posts that are stored by the same commands. */
const GROUP_MAX = 100;
/** A post with more items is stored alone, so that no other waits for it: thousands take the store a second. */
const LARGE_POST = 250;

type Stored = { readonly error?: unknown };

/** Stores what providers post, many posts with the same commands. */
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
      // One of them cannot be stored: the others must be, all the same.
      const ends = await Promise.allSettled(posts.map((post) => this.#write([post])));
      return ends.map((end) => (end.status === 'rejected' ? { error: end.reason } : {}));
    }
  }

  async #write(posts: readonly CallbackPost[]): Promise<void> {
    // The sessions first: a worker may tell of a message as soon as it is kept, and who hears of it may answer at once.
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
