/** The part of the driver's connection that connect.ts repairs; the driver's own types leave it out. Version 7.9.0. */
declare module 'mongodb/lib/cmap/connection.js' {
  import type { Duplex } from 'node:stream';

  export class Connection {
    constructor(stream: Duplex, options: object);
    readonly socket: Duplex;
    readonly closed: boolean;
    /** Rejects when the connection closes meanwhile. */
    command(namespace: object, command: object, options?: object, responseType?: object): Promise<unknown>;
    /** Closes the connection with a reason; does nothing when it is closed. */
    cleanup(error: Error): void;
  }
}
