import { cutAfter, cutBefore, type Fault, Faults, type Injected, refused, silent, WRITES } from './faults.ts';
import { type Handler, isHello, listen, plainHello } from './link.ts';

/**
 * `slow`: late answers. `down`: connections are cut and new ones reset, as if nobody listened. `silent`: connections
 * stay but are never answered, as behind a dropping firewall; they stay dead, with what was sent. `readonly`: writes
 * are refused, as by a former primary.
 */
export type StoreMood = 'well' | 'slow' | 'down' | 'silent' | 'readonly';

export interface WireProxy {
  /** For clients that are to meet the faults. */
  readonly uri: string;
  become(mood: StoreMood): void;
  /** Adds a fault for later commands on any connection. */
  inject(fault: Fault): Injected;
  /** The next such command is done, but its answer is lost and the connection is cut. */
  loseAnswerTo(command: string, collection: string): Injected;
  /** Cuts connections with such a command before the server gets it, until ended. */
  loseAll(command: string, collection: string): Injected;
  close(): Promise<void>;
}

/** Shorter than any client's time-out and `/readyz`'s wait. */
const SLOW_MS = 2_000;

/** A proxy before the store that reads commands, so that a fault can happen to a single one. */
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
