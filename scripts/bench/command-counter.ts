import { Connection } from 'mongodb/lib/cmap/connection.js';

/** Loaded into each process of the product (`--import`): counts its store commands for stage.ts. */
let commands = 0;
const send = Connection.prototype.command;
Connection.prototype.command = function (...sent: Parameters<typeof send>): ReturnType<typeof send> {
  commands += 1;
  return send.apply(this, sent);
};
process.on('message', (message) => {
  if (message === 'how many commands') process.send?.({ commands });
});
// The listener alone would keep the process alive.
process.channel?.unref();
