import type { SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import { HandClient } from './hand-client.ts';

/** For a describe: a simulated SMSC for each test, and clients that speak to it by hand; all are closed behind it. */
export class SmscWorld {
  #smsc: Smsc | undefined;
  #clients: HandClient[] = [];

  constructor() {
    afterEach(async () => {
      for (const each of this.#clients) each.close();
      this.#clients = [];
      await this.#smsc?.close();
      this.#smsc = undefined;
    });
  }

  async start(options: Partial<SmscOptions> = {}): Promise<void> {
    this.#smsc = await startSmsc({ receiptDelayMs: 10, retryDelayMs: 20, ...options });
  }

  get smsc(): Smsc {
    if (this.#smsc === undefined) throw new Error('the SMSC was not started');
    return this.#smsc;
  }

  client(): HandClient {
    const made = new HandClient(this.smsc.port);
    this.#clients.push(made);
    return made;
  }
}
