/**
 * What a carrier's answer to submit_sm means for the message:
 * `accepted`; `throttled` (slow the bind, the message keeps its place); `retry` (the message waits and is tried again, a
 * few times); `bind` (the session is not usable, the message goes back); `rejected` (for good).
 */
export type CommandStatusClass = 'accepted' | 'throttled' | 'retry' | 'bind' | 'rejected';
