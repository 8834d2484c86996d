import { networkOf } from '../../shared/webhooks/public-address.ts';

interface Host {
  destination: string;
  inFlight: number;
}

/**
 * How many hosts' addresses are remembered. Connections are kept, so a host's address is only learned once in many
 * posts.
 */
const HOSTS_MAX = 10_000;

/**
 * Counts posts in flight by destination: the address that a host was last connected to. So many names of one machine
 * count together. A host without a connection yet is its own destination.
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

  /** The host was connected to this address. Its posts in flight count for this address from now on. */
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

  /**
   * Forgets the oldest host without posts in flight. There is one, because more hosts are remembered than posts can
   * be in flight.
   */
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
