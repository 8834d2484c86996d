import { Connection } from 'mongodb/lib/cmap/connection.js';

let repaired = false;

/**
 * Repairs a hang of the driver (7.9.0, lib/cmap/connection.js `writeCommand`) after the store was killed. A command that meets a
 * closing socket waits for `drain`, which a destroyed socket never emits. Such an operation never ends, and no timeout helps. If
 * the operation is the monitor's `hello`, the client never finds the server again. This happens because a broken pool connection
 * triggers an immediate check while the monitor's own connection is breaking too. Of six processes, one was lost like that in
 * about one of five kills of the store, until its restart.
 *
 * With the repair, a closed connection reports its reason to everyone waiting on its socket and refuses later writes. The driver
 * treats both as the network error that they are.
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
    // The connection listens too, but does nothing more once it is closed.
    this.socket.emit('error', error);
  };
}
