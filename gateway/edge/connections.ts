import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../../shared/runtime/clock.ts';

/** Closing one costs some 20 µs, and a whole crowd can be closed at once. */
const CROWD = 2_000;
/** Milliseconds for which a connection may say nothing in a crowd. */
const SILENT_MS = 2_000;
/** Connections looked at, and so closed at most, for each new one. */
const LOOKED_AT = 8;

/** The open connections, the longest without a request first. */
export class Connections {
  readonly #clock: Clock;
  readonly #isBusy: (connection: Socket) => boolean;
  /** When each connected or last sent a request's headers, monotonic. */
  readonly #asked = new Map<Socket, number>();

  /** `isBusy`: whether an answer is being waited for. */
  constructor(isBusy: (connection: Socket) => boolean, clock: Clock = systemClock) {
    this.#isBusy = isBusy;
    this.#clock = clock;
  }

  /** In a crowd, those that ask for nothing give way to the new one: connections that never say a whole request keep nobody out. */
  add(connection: Socket): void {
    this.asked(connection);
    const before = this.#clock.monotonicMs() - SILENT_MS;
    let looked = 0;
    for (const [other, asked] of this.#asked) {
      if (this.#asked.size <= CROWD || asked > before || ++looked > LOOKED_AT) return;
      if (this.#isBusy(other)) {
        this.asked(other);
      } else {
        this.#asked.delete(other);
        other.destroy();
      }
    }
  }

  asked(connection: Socket): void {
    this.#asked.delete(connection);
    this.#asked.set(connection, this.#clock.monotonicMs());
  }

  delete(connection: Socket): void {
    this.#asked.delete(connection);
  }

  /** Whether some of an answer is still to go out on one of them. */
  areSending(): boolean {
    for (const connection of this.#asked.keys()) if (connection.writableLength > 0) return true;
    return false;
  }

  /** Node counts a connection that never sent anything as active; a client that keeps one in store would delay every stop. */
  closeSilent(): void {
    for (const connection of this.#asked.keys()) {
      if (!this.#isBusy(connection)) connection.destroy();
    }
  }
}
