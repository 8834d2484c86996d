import type { Document } from 'mongodb';
import { type Fault, Faults, type Injected, refused, WRITES, withConcernError } from './faults.ts';
import { answer, type Command, readAnswer, rewritten } from './framing.ts';
import { isHello, type Link, type Listener, listen, plainHello } from './link.ts';
import { memberHello, type Role, setUri } from './member-hello.ts';

/**
 * A replica set played before one server: each listener is a member. Data are shared at once; only roles are played, so
 * that drivers do discovery, step-downs and elections with real data.
 */
export interface PlayedSet {
  readonly uri: string;
  inject(fault: Fault): Injected;
  /**
   * Makes the primary a secondary. Commands in progress are done here, but perhaps not on a majority. Drivers learn it
   * when one sends a command, which is refused, or by an election.
   */
  stepDown(): void;
  /** Ends the primary's connections; nobody listens there until `heal`. */
  crash(): void;
  /**
   * Cuts the primary off unnoticed: it answers reads, but writes wait for a majority for ever. At `heal` they are
   * rolled back and their connections are cut.
   */
  isolate(): void;
  /** Makes the next member primary, by a newer election. */
  elect(): void;
  /** Makes every other member a reachable secondary. */
  heal(): void;
  /** Reads and writes at each member. */
  readonly taken: readonly number[];
  /** Commands refused by members that are not primary. */
  readonly refused: number;
  close(): Promise<void>;
}

interface Member {
  listener?: Listener;
  role: Role;
  /** The election that made it primary. */
  term: number;
  taken: number;
}

export interface SetOptions {
  /** Whether members report changes at once, as mongod since 4.4. If not, drivers ask every ten seconds. */
  readonly streams?: boolean;
}

/** Only the primary takes them: drivers here read from the primary. */
const READS: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct', 'getMore', 'listIndexes']);

export async function startPlayedSet(storeUri: string, { streams = true }: SetOptions = {}): Promise<PlayedSet> {
  const set = new Played(streams);
  await set.listen(storeUri);
  return set;
}

class Played implements PlayedSet {
  readonly #streams: boolean;
  readonly #faults = new Faults();
  readonly #members: readonly Member[] = [
    { role: 'primary', term: 1, taken: 0 },
    { role: 'secondary', term: 0, taken: 0 },
    { role: 'secondary', term: 0, taken: 0 },
  ];
  #hosts: readonly string[] = [];
  #elections = 1;
  #version = 1;
  #refused = 0;
  /** The member that has stepped down, until a driver knows it. */
  #unheard: Member | undefined;
  #changed = signal();

  constructor(streams: boolean) {
    this.#streams = streams;
  }

  async listen(storeUri: string): Promise<void> {
    for (const member of this.#members) {
      const handle = (command: Command, link: Link) => this.#handle(member, command, link);
      member.listener = await listen({ storeUri, handle, accepts: () => member.role !== 'down' });
    }
    this.#hosts = this.#members.map(({ listener }) => listener?.host ?? '');
  }

  get uri(): string {
    return setUri(this.#hosts);
  }

  get taken(): readonly number[] {
    return this.#members.map(({ taken }) => taken);
  }

  get refused(): number {
    return this.#refused;
  }

  inject(fault: Fault): Injected {
    return this.#faults.inject(fault);
  }

  stepDown(): void {
    this.#unheard = this.#primary();
    this.#unheard.role = 'secondary';
  }

  crash(): void {
    const primary = this.#primary();
    this.#make(primary, 'down');
    primary.listener?.cutAll();
  }

  isolate(): void {
    this.#make(this.#primary(), 'isolated');
  }

  elect(): void {
    const able = this.#members.filter(({ role }) => role === 'secondary');
    // The one whose last term as primary is the oldest, so not the recent primary.
    const next = able.reduce((best, member) => (member.term < best.term ? member : best), able[0] as Member); // of three, one can go on
    next.term = ++this.#elections;
    this.#make(next, 'primary');
  }

  heal(): void {
    for (const member of this.#members) if (member.role !== 'primary') this.#make(member, 'secondary');
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ listener }) => listener?.close()));
  }

  #primary(): Member {
    const primary = this.#members.find(({ role }) => role === 'primary');
    if (primary === undefined) throw new Error('nobody is primary');
    return primary;
  }

  #make(member: Member, role: Role): void {
    member.role = role;
    this.#unheard = undefined;
    this.#version += 1;
    this.#changed.give();
    this.#changed = signal();
  }

  async #handle(member: Member, command: Command, link: Link): Promise<void> {
    if (isHello(command)) return this.#greet(member, command, link);
    const writes = WRITES.has(command.name);
    if (!writes && !READS.has(command.name)) return link.tell(await link.ask(command.message));
    if (member.role === 'secondary') {
      this.#refused += 1;
      if (member === this.#unheard) this.#make(member, 'secondary');
      return refused(writes ? 'NotWritablePrimary' : 'NotPrimaryNoSecondaryOk')(command, link);
    }
    if (member.role === 'isolated' && writes) {
      while (member.role === 'isolated' && link.open) await Promise.race([this.#changed.given, link.ended]);
      return link.cut();
    }
    member.taken += 1;
    const fault = this.#faults.meet(command);
    if (fault !== undefined) return fault(command, link);
    const office = officeOf(member);
    const reply = await link.ask(command.message);
    if (officeOf(member) === office) return link.tell(reply);
    const interrupted = 'InterruptedDueToReplStateChange';
    return writes ? link.tell(withConcernError(command, reply, interrupted)) : refused(interrupted)(command, link);
  }

  /** Answers one hello, or each change with a hello if the driver waits for changes. */
  async #greet(member: Member, command: Command, link: Link): Promise<void> {
    const { topologyVersion, maxAwaitTimeMS, ...asked } = command.body();
    if (topologyVersion === undefined || !this.#streams) {
      const server = readAnswer(await plainHello(command, link));
      return link.tell(answer(command.message, this.#hello(member, server)));
    }
    let known = Number(topologyVersion.counter);
    let last = command.message;
    const server = readAnswer(await link.ask(rewritten(command, asked)));
    do {
      if (known >= this.#version) await this.#newsWithin(Number(maxAwaitTimeMS), link);
      known = this.#version;
      last = answer(last, this.#hello(member, server), command.streams);
      link.tell(last);
    } while (command.streams && link.open);
  }

  async #newsWithin(ms: number, link: Link): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([this.#changed.given, link.ended, over]);
    clearTimeout(timer);
  }

  #hello(member: Member, server: Document): Document {
    const shown = (of: Member): Role => (of === this.#unheard ? 'primary' : of.role);
    return memberHello(server, {
      hosts: this.#hosts,
      me: this.#members.indexOf(member),
      role: shown(member),
      term: member.term,
      primary: this.#members.findIndex((one) => shown(one) === 'primary'),
      version: this.#streams ? this.#version : undefined,
    });
  }
}

const officeOf = ({ role, term }: Member): string => `${role} since election ${term}`;

interface Signal {
  readonly given: Promise<void>;
  give(): void;
}

function signal(): Signal {
  let give = (): void => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}
