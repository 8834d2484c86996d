import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Answer, CarrierHabits, Counts, Question, Seen, Started } from './world.ts';

/** The benchmark's side of the process in world.ts. */
export class World {
  readonly #child: ChildProcess;
  readonly smscPort: number;
  readonly receiverUrl: string;
  readonly callbackUrl: string;

  private constructor(child: ChildProcess, { smscPort, receiverUrl, callbackUrl }: Started) {
    this.#child = child;
    this.smscPort = smscPort;
    this.receiverUrl = receiverUrl;
    this.callbackUrl = callbackUrl;
  }

  static async start(dist: string, carrier: CarrierHabits): Promise<World> {
    const child = fork(join(dist, 'scripts/bench/world.js'), [JSON.stringify(carrier)], { execArgv: [] });
    return new World(child, await answer(child, 'started'));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  counts(): Promise<Counts> {
    return this.#ask({ ask: 'counts' }, 'counts');
  }

  seen(): Promise<Seen> {
    return this.#ask({ ask: 'seen' }, 'seen');
  }

  delayReceipts(delayMs: number): void {
    this.#child.send({ ask: 'receipts', delayMs } satisfies Question);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }

  #ask<K extends Answer['kind']>(question: Question, kind: K): Promise<Extract<Answer, { kind: K }>> {
    const told = answer(this.#child, kind);
    this.#child.send(question);
    return told;
  }
}

/** The next answer of this kind; only one question may be open. Rejects if the process ends first. */
function answer<K extends Answer['kind']>(child: ChildProcess, kind: K): Promise<Extract<Answer, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new Error('the simulated world ended'));
    const hear = (message: unknown): void => {
      if (!isAnswer(message, kind)) return;
      child.off('message', hear);
      child.off('exit', end);
      resolve(message);
    };
    child.on('message', hear);
    child.once('exit', end);
  });
}

function isAnswer<K extends Answer['kind']>(message: unknown, kind: K): message is Extract<Answer, { kind: K }> {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === kind;
}
