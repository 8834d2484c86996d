import { cutAfter, cutBefore, type Fault, Faults, type Injected, refused, silent, WRITES } from './faults.ts';
import { type Handler, isHello, listen, plainHello } from './link.ts';

/**
 * `slow`: every answer comes late. `down`: nobody listens, so to speak: what is connected is cut off. `silent`: connections are
 * accepted and stay, and nothing is ever answered, as behind a firewall that drops everything; what was sent or answered then is
 * lost, and those connections stay dead. `readonly`: what writes is refused, as by a server that is no primary any more.
 */
export type StoreMood = 'well' | 'slow' | 'down' | 'silent' | 'readonly';

export interface WireProxy {
  /** For clients that are to feel what happens to the store. */
  readonly uri: string;
  become(mood: StoreMood): void;
  /** From now on, for commands on any connection. */
  inject(fault: Fault): Injected;
  /** The server does the next such command; its answer is lost and the connection cut. */
  loseAnswerTo(command: string, collection: string): Injected;
  /** Connections on which such a command comes are cut before the server knows of it, until this is ended. */
  loseAll(command: string, collection: string): Injected;
  close(): Promise<void>;
}

/** Longer than `/readyz` waits, shorter than anybody's patience. */
const SLOW_MS = 2_000;

/** A proxy of our own between processes and their store, which reads what they say to each other. */
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
