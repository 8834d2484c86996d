/** "States and transitions": the specification names states, decisions.md (Messages, Schedules) their order. */
export interface StateRow {
  readonly channel: 'sms' | 'chatapp';
  /** Last digits of the recipient (docs/magic-numbers.md). */
  readonly ending: string;
  /** Its states in order; it stays in the last one. */
  readonly path: readonly string[];
  /** No carrier accepted any part, so the credit comes back. */
  readonly refunded?: true;
}

export const MESSAGE_STATES: readonly StateRow[] = [
  { channel: 'sms', ending: '210', path: ['queued', 'sent', 'delivered'] },
  { channel: 'sms', ending: '101', path: ['queued', 'sent', 'failed'] },
  { channel: 'sms', ending: '102', path: ['queued', 'sent', 'expired'] },
  { channel: 'sms', ending: '103', path: ['queued', 'sent', 'rejected'] },
  { channel: 'sms', ending: '106', path: ['queued', 'sent'] },
  { channel: 'sms', ending: '108', path: ['queued', 'rejected'], refunded: true },
  { channel: 'chatapp', ending: '210', path: ['queued', 'sent', 'delivered', 'read'] },
  { channel: 'chatapp', ending: '318', path: ['queued', 'sent', 'delivered'] },
  { channel: 'chatapp', ending: '307', path: ['queued', 'sent', 'read'] },
  { channel: 'chatapp', ending: '301', path: ['queued', 'sent', 'failed'] },
  { channel: 'chatapp', ending: '302', path: ['queued', 'rejected'] },
];

export const SCHEDULE_STATES = ['scheduled', 'sending', 'sent', 'cancelled'] as const;
