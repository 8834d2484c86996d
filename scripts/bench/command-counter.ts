import { Connection } from 'mongodb/lib/cmap/connection.js';
import { COUNT_COMMANDS } from './store-commands.ts';

/** Loaded before each process of the product (`--import`): counts the commands that it sends to the store, and tells who asks. */
let commands = 0;
const send = Connection.prototype.command;
Connection.prototype.command = function (...sent: Parameters<typeof send>): ReturnType<typeof send> {
  commands += 1;
  return send.apply(this, sent);
};
process.on('message', (message) => {
  if (message === COUNT_COMMANDS) process.send?.({ commands });
});
// A listener alone would keep the process from ending.
process.channel?.unref();
