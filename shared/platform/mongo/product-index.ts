import type { CreateIndexesOptions } from 'mongodb';

/** An index of one of the product's collections. */
export interface Index {
  readonly collection: string;
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly options: CreateIndexesOptions & { readonly name: string };
  /** The queries that need it, by who asks them. */
  readonly serves: string;
}
