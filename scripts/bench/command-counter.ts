import { Connection } from 'mongodb/lib/cmap/connection.js';

/** Loaded before each process of the product (`--import`): counts the commands that it sends to the store, and tells stage.ts, which asks. */
let commands = 0;
const send = Connection.prototype.command;
Connection.prototype.command = function (...sent: Parameters<typeof send>): ReturnType<typeof send> {
  commands += 1;
  return send.apply(this, sent);
};
process.on('message', (message) => {
  if (message === 'how many commands') process.send?.({ commands });
});
// A listener alone would keep the process from ending.
process.channel?.unref();
