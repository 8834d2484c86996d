import { cutAfter, cutBefore, type Fault, Faults, type Injected, refused, silent, WRITES } from './faults.ts';
import { type Handler, isHello, listen, plainHello } from './link.ts';

/**
 * `slow`: every answer comes late. `down`: connections are cut off and new ones are reset, as if nobody listened. `silent`:
 * connections are accepted and stay, and nothing is ever answered, as behind a firewall that drops everything; what is sent or
 * answered then is lost, and those connections stay dead. `readonly`: writes are refused, as by a server that is no longer primary.
 */
export type StoreMood = 'well' | 'slow' | 'down' | 'silent' | 'readonly';

export interface WireProxy {
  /** The address for clients that are to meet the faults. */
  readonly uri: string;
  become(mood: StoreMood): void;
  /** Adds a fault, from now on and for commands on any connection. */
  inject(fault: Fault): Injected;
  /** The server does the next such command; then its answer is lost and the connection is cut. */
  loseAnswerTo(command: string, collection: string): Injected;
  /** Connections on which such a command comes are cut before the server knows of it, until this is ended. */
  loseAll(command: string, collection: string): Injected;
  close(): Promise<void>;
}

/** Shorter than any client's time-out, and than `/readyz` waits. */
const SLOW_MS = 2_000;

/** A proxy between processes and their store. It reads the commands, so that a fault can happen to one of them. */
export async function startWireProxy(storeUri: string): Promise<WireProxy> {
  const faults = new Faults();
  let mood: StoreMood = 'well';
  const is = (asked: StoreMood): boolean => mood === asked;
  const handle: Handler = async (command, link) => {
    if (is('silent')) return silent(command, link);
    if (is('readonly') && WRITES.has(command.name)) return refused('NotWritablePrimary')(command, link);
    const fault = faults.meet(command);
    if (fault !== undefined) return fault(command, link);
    const answer = await (isHello(command) ? plainHello(command, link) : link.ask(command.message));
    if (is('slow')) await new Promise((over) => setTimeout(over, SLOW_MS));
    if (is('silent')) return link.ended;
    link.tell(answer);
  };
  const listener = await listen({ storeUri, handle, accepts: () => !is('down') });
  return {
    uri: `mongodb://${listener.host}/?directConnection=true`,
    become: (next) => {
      mood = next;
      if (is('down')) listener.cutAll();
    },
    inject: (fault) => faults.inject(fault),
    loseAnswerTo: (command, collection) => faults.inject({ command, collection, happens: cutAfter }),
    loseAll: (command, collection) => faults.inject({ command, collection, times: Infinity, happens: cutBefore }),
    close: () => listener.close(),
  };
}
