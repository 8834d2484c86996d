/**
 * Places where a process may die between two effects, with the state at that moment. Tests let a process kill itself
 * there (`HARKARA_CRASH_AT`) and check how the others recover: test/flow/crash-points.faults.test.ts has a case for
 * each. docs/crash-points.md lists them.
 */
export const CRASH_POINTS = {
  'accept:debited': 'The account has paid; its messages and schedules lie in `pending` only.',
  'accept:inserted': 'What was paid for waits in the queue, and is not in the ledger yet; callers may have their 200.',
  'accept:stored': 'What was paid for is stored and in the ledger; `pending` still has it.',
  'bulk:stored': 'The recipients of a batch are stored; nothing is paid.',
  'key:claimed': 'An Idempotency-Key is claimed; nothing is paid.',
  'key:paid': 'The request of an Idempotency-Key is accepted; its answer is not stored.',
  'credit:applied': 'Credits were added to the account; the ledger does not know it.',
  'credit:entered': 'Credits are in the ledger; `pending` still has them.',
  'split:inserted': 'Entries of a batch wait in the queue; the batch does not know it.',
  'stop:decided': 'A group of a stopped batch is decided; its messages still wait.',
  'stop:cancelled': 'Messages of a stopped batch are rejected; their events and refunds do not exist.',
  'cancel:decided': 'A schedule is cancelled; its credits are not back.',
  'release:claimed': 'Due schedules are being sent; their messages do not exist.',
  'release:inserted': 'Messages of due schedules wait in the queue; the schedules do not know it.',
  'claim:taken': 'Messages are claimed; nothing was written to the carrier.',
  'queue:marked': 'The messages of waiting lines decide from now on; they are not inserted.',
  'queue:written': 'The messages of waiting lines are inserted; the queue does not know it.',
  'queue:split': 'What waited in mixed documents has lines of single accounts; the mixed ones still exist.',
  'queue:taken_over': 'What a dead worker had claimed is inserted as unknown; the queue still has its claims.',
  'submit:written': 'A submit_sm was written; no answer came.',
  'settle:intended': 'A group of settles is announced in its intent; no message is changed.',
  'settle:updated': 'Messages are settled; their events and refunds do not exist.',
  'settle:announced': 'The events exist; the refunds do not.',
  'receipt:stored': 'A receipt is settled; the carrier has no deliver_sm_resp.',
  'inbound:stored': "A handset's message is stored; its account has no message, the carrier no answer.",
  'inbound:opted_out': "A customer's STOP is on the list; the customer's message is not stored.",
  'answer:due': "The answer to a customer's STOP is due; the customer's message is not stored.",
  'answer:paid': "The answer to a customer's STOP is paid for and stored; it is still due.",
  'inbound:inserted': "A handset's message is a message of its account; its event does not exist.",
  'inbound:announced': "A handset's message is announced; the carrier has no answer.",
  'webhook:posted': 'An endpoint has answered; the delivery is still due.',
  'webhook:taken_apart': 'What failed of a group has a delivery of its own; the group is still due.',
  'chat:paid': 'The account has paid for a conversation; it lies in `pending` and `opening` only.',
  'chat:stored': 'A conversation, its messages and the ledger entry are stored; `pending` still has it.',
  'chat:refund_decided': 'A refused conversation is marked as refunded; its credits are not back.',
  'chat:passed_on': 'Another message stands for a conversation; whether that one failed too was not looked at.',
  'chat:answered': 'A provider has taken a message; its answer is not stored.',
  'fallback:decided': 'That the SMS of a chat-app message goes is decided; it is not paid for.',
  'fallback:paid': 'The SMS of a chat-app message is paid for; that message does not know it.',
  'second_try:decided': 'That the chat-app message of a verification goes is decided; it is not paid for.',
  'second_try:paid': 'The chat-app message of a verification is paid for; the verification does not know it.',
  'template:asked': 'That a provider is asked for a template is stored; it was not asked.',
  'template:answered': 'A provider has answered a request for a template; its answer is not stored.',
  'inbox:linked': 'It is stored by which names customers who wrote are one person; what they wrote is not.',
  'inbox:stored': 'Messages from customers and their events exist; what the provider posted is still due.',
  'callback:heard': 'Who wrote has a session; what the provider posted is not stored, and it has no answer.',
  'mail:taken': 'The mail server has taken a mail; the store does not know it.',
  'audit:begun': 'A change of a setting is in the audit; it is not made.',
  'audit:changed': 'A setting is changed; the audit says that this was begun.',
  'pending:redone': 'What a dead gateway left pending is stored; the account still has it.',
} as const satisfies Readonly<Record<string, string>>;

export type CrashPoint = keyof typeof CRASH_POINTS;

let armed: CrashPoint | undefined;
let left = 0;

/** Parses `settle:updated`, or `settle:updated#3` for the third time that the point is reached. */
export function parseCrashPoint(text: string): { readonly name: CrashPoint; readonly pass: number } | undefined {
  const [name = '', pass = '1', more] = text.split('#');
  if (more !== undefined || !/^[1-9]\d{0,5}$/.test(pass) || !Object.hasOwn(CRASH_POINTS, name)) return undefined;
  return { name: name as CrashPoint, pass: Number(pass) }; // found in the table above
}

export function armCrashPoint({ name, pass }: { readonly name: CrashPoint; readonly pass: number }): void {
  armed = name;
  left = pass;
}

/** Dies here if a test asked for it. Like kill -9: nothing is flushed and nobody is told. */
export function crashPoint(name: CrashPoint): void {
  if (armed !== name || --left > 0) return;
  process.kill(process.pid, 'SIGKILL');
}
