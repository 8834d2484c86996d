import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOps } from '../../scripts/ops/run.ts';
import { loadConfig } from '../../shared/platform/config/settings.ts';
import { openTestStore, type TestStore } from './store.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** An operator with a store and a data directory. */
export class OpsWorld {
  readonly store: TestStore;
  readonly dir: string;
  /** The settings that the commands see. */
  readonly env: Record<string, string>;

  static async open(more: Record<string, string> = {}): Promise<OpsWorld> {
    return new OpsWorld(await openTestStore(), mkdtempSync(join(tmpdir(), 'harkara-ops-')), more);
  }

  private constructor(store: TestStore, dir: string, more: Record<string, string>) {
    this.store = store;
    this.dir = dir;
    this.env = {
      HARKARA_MONGODB_URI: store.uri,
      HARKARA_MONGODB_DATABASE: store.db.databaseName,
      HARKARA_DATA_DIR: dir,
      ...more,
    };
  }

  /** `command`: a list of words, or a text of words between single spaces. */
  async run(command: string | readonly string[], more: Record<string, string> = {}): Promise<Ran> {
    const said = { out: '', err: '' };
    const terminal = {
      out: (text: string) => {
        said.out += `${text}\n`;
      },
      err: (text: string) => {
        said.err += `${text}\n`;
      },
    };
    const words = typeof command === 'string' ? command.split(' ') : command;
    const code = await runOps([...words], terminal, () => loadConfig({ ...this.env, ...more }));
    return { code, ...said };
  }

  /** A successful command's `--json` answer. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape that it asks for.
  async json(command: string | readonly string[], more?: Record<string, string>): Promise<any> {
    const words = typeof command === 'string' ? command.split(' ') : command;
    const { code, out, err } = await this.run([...words, '--json'], more);
    expect({ code, err }, words.join(' ')).to.deep.equal({ code: 0, err: '' });
    return JSON.parse(out);
  }

  async newAccount(): Promise<string> {
    return String((await this.json('account create --name Shop')).account);
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
