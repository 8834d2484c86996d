import { networkOf } from '../../shared/webhooks/public-address.ts';

interface Host {
  destination: string;
  inFlight: number;
}

/** Hosts whose address is remembered: connections are kept, so a host's address is heard of once in many posts. */
const HOSTS_MAX = 10_000;

/**
 * Posts in flight by destination: the address that a host was last connected to, so that many names of one machine count
 * together. Until a host was connected to, it is a destination of its own.
 */
export class Destinations {
  readonly #hosts = new Map<string, Host>();
  readonly #inFlight = new Map<string, number>();

  /** Posts in flight to the host's destination. */
  inFlight(host: string): number {
    return this.#inFlight.get(this.destinationOf(host)) ?? 0;
  }

  destinationOf(host: string): string {
    return this.#hosts.get(host)?.destination ?? host;
  }

  begin(host: string): void {
    const known = this.#host(host);
    known.inFlight++;
    this.#add(known.destination, 1);
  }

  end(host: string): void {
    const known = this.#host(host);
    known.inFlight--;
    this.#add(known.destination, -1);
  }

  /** A connection of the host was made to this address: what is in flight to the host counts there from now on. */
  connected(host: string, address: string): void {
    const known = this.#host(host);
    const destination = networkOf(address);
    if (destination === known.destination) return;
    this.#add(known.destination, -known.inFlight);
    known.destination = destination;
    this.#add(destination, known.inFlight);
  }

  #host(host: string): Host {
    const known = this.#hosts.get(host);
    if (known !== undefined) return known;
    const added = { destination: host, inFlight: 0 };
    this.#hosts.set(host, added);
    if (this.#hosts.size > HOSTS_MAX) this.#forgetOne();
    return added;
  }

  /** The oldest to which nothing is in flight; there is one, because far fewer posts are in flight than hosts are kept. */
  #forgetOne(): void {
    for (const [host, { inFlight }] of this.#hosts) {
      if (inFlight > 0) continue;
      this.#hosts.delete(host);
      return;
    }
  }

  #add(destination: string, count: number): void {
    const sum = (this.#inFlight.get(destination) ?? 0) + count;
    if (sum === 0) this.#inFlight.delete(destination);
    else this.#inFlight.set(destination, sum);
  }
}
