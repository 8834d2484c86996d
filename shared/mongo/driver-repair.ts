import { Connection } from 'mongodb/lib/cmap/connection.js';

let repaired = false;

/**
 * Repairs a hang of the driver (7.8.0, lib/cmap/connection.js `writeCommand`) that a killed store provokes: a command that
 * meets a socket which is just closing waits for `drain`, which a destroyed socket never emits. Such an operation never
 * ends, and no timeout helps. When it is the monitor's `hello` (a broken pool connection asks for a check at once, and the
 * monitor's own connection is breaking at that moment too) the client never finds the server again: of six processes about
 * one in five kills of the store was lost like that until its restart.
 *
 * With this a closed connection tells whoever waits at its socket why, and refuses later writes, which the driver takes for
 * the network error that it is.
 */
export function repairDriver(): void {
  if (repaired) return;
  repaired = true;
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function repaired(this: Connection, error: Error): void {
    const closes = !this.closed;
    cleanup.call(this, error);
    if (!closes) return;
    this.socket.write = () => {
      throw error;
    };
    // The connection listens itself and does nothing more, being closed.
    this.socket.emit('error', error);
  };
}
