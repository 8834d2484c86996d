/**
 * `error_code` and `error_reason` of messages that ended because their batch was stopped. Counts of stopped messages use them.
 */
export const CANCELLED = 'cancelled';
export const CANCELLED_REASON = 'The batch was stopped before the message left.';
