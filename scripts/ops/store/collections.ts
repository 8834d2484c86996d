/**
 * Every collection of the product, and whether a move copies it. Those that are not copied are emptied at the target, where a
 * start may have written something.
 */
export const COLLECTIONS: Readonly<Record<string, { readonly copied: boolean; readonly why: string }>> = {
  ...copied('data', [
    ...['accounts', 'ledger', 'keys', 'users', 'senders', 'templates', 'template_requests', 'template_versions'],
    ...['messages', 'batches', 'batch_chunks', 'schedules', 'conversations', 'carriers', 'carrier_chains', 'routes'],
    ...['numbers', 'opt_outs', 'opt_out_words', 'chat_opt_ins', 'chat_templates', 'chat_template_requests'],
    ...['providers', 'endpoints', 'deliveries', 'webhook_replays', 'inbound', 'chat_inbox', 'orphans', 'audit'],
    ...['message_log', 'statistics', 'counted_hours', 'ledger_checks', 'key_uses', 'opt_out_answers', 'bind_reports'],
    'queue',
  ]),
  sessions: { copied: true, why: 'people stay signed in' },
  sign_in_failures: { copied: true, why: 'a move gives nobody more tries at passwords' },
  opt_out_helps: { copied: true, why: 'a move gives nobody more answers to HELP' },
  idempotency: { copied: true, why: 'a request that is repeated after the move is not done twice' },
  intents: { copied: true, why: 'groups that a killed process left unfinished are finished after the move' },
  leases: {
    copied: true,
    why: 'epochs go on: claims and intents name them, and a lower one would find those fenced off',
  },
  alarms: { copied: true, why: "Agenda's jobs" },
  alarm_log: { copied: true, why: "Agenda's log of jobs" },
  processes: { copied: false, why: 'living processes report every ten seconds' },
  rate: { copied: false, why: 'counts of a minute' },
  start_checks: { copied: false, why: 'each start on MongoDB writes it anew' },
  store_state: { copied: false, why: 'each store has its own; the schema is written at the end' },
};

function copied(why: string, names: readonly string[]): Readonly<Record<string, { copied: true; why: string }>> {
  return Object.fromEntries(names.map((name) => [name, { copied: true, why }]));
}

/** In the order in which they are copied. */
export const COPIED: readonly string[] = Object.keys(COLLECTIONS).filter((name) => COLLECTIONS[name]?.copied);
