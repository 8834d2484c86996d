export type Told = string | number | null | readonly string[];

/**
 * Something that happened and is not announced yet, kept in the document of the thing: the update that decides adds it,
 * and maintenance announces and removes it (workers/maintenance/announce.ts). `event`: a name of
 * shared/events/catalogue.ts.
 */
export interface Act<Event extends string = string> {
  readonly event: Event;
  readonly at: Date;
  readonly told: Readonly<Record<string, Told>>;
  /** The subject, where several such acts may happen to one thing in an hour. */
  readonly about?: string;
  /** The token of a link that is to be mailed. */
  readonly sealed?: string;
}

export interface WithActs {
  readonly unannounced?: readonly Act[];
}
