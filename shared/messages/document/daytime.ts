/**
 * Hours of the recipient's day in which messages of an account or a route may leave: `{from: '09:00', to: '21:00', countries: ['AE']}`.
 * From 21:00 to 06:00 spans midnight. They hold in all time zones of the recipient's country at once, because a number does not tell
 * where in it somebody is.
 */
export interface Daytime {
  readonly from: string;
  /** Exclusive. Equal to `from`: at any time. */
  readonly to: string;
  /** ISO 3166-1. Absent: recipients of all countries. */
  readonly countries?: readonly string[];
}
