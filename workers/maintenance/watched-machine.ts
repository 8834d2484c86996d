import { statfs } from 'node:fs/promises';
import { connect } from 'node:tls';
import type { Db } from 'mongodb';
import type { Installation, StoreSeen } from '../../shared/conditions/seen.ts';
import type { ProcessDocument } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { parseIdentity, processName } from '../../shared/platform/runtime/process-identity.ts';

/** So many measurements in a row must be bad: one may be an accident. */
const REMEMBERED = 3;
const HOUR_MS = 3_600_000;
const CONNECT_MS = 5_000;

/** What the watch measures itself: the store, its disk, the clocks, the certificate that browsers meet. */
export class WatchedMachine {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #options: { readonly storeDir: string | undefined; readonly publicUrl: string };
  readonly #writesMs: number[] = [];
  readonly #skews = new Map<string, readonly number[]>();
  #certificate: { readonly until: Date | undefined; readonly atMs: number } | undefined;

  /** `storeDir`: of the embedded store. */
  constructor(db: Db, clock: Clock, options: { readonly storeDir: string | undefined; readonly publicUrl: string }) {
    this.#db = db;
    this.#clock = clock;
    this.#options = options;
  }

  async look(
    living: readonly Omit<ProcessDocument, 'metrics'>[],
  ): Promise<Pick<Installation, 'store' | 'clocks' | 'certificates'>> {
    const [store, certificate] = await Promise.all([this.#store(), this.#publicCertificate()]);
    return { store, clocks: this.#clocks(living), certificates: certificate };
  }

  /** A write that matches no document: like each write, it waits until a majority has all before it. */
  async #store(): Promise<StoreSeen> {
    const beganMs = this.#clock.monotonicMs();
    await this.#db.collection<ProcessDocument>('processes').updateOne({ _id: 'watch' }, { $unset: { ended: '' } });
    this.#writesMs.push(this.#clock.monotonicMs() - beganMs);
    if (this.#writesMs.length > REMEMBERED) this.#writesMs.shift();
    const { storeDir: dir } = this.#options;
    const writeMs = this.#writesMs.length < REMEMBERED ? 0 : Math.min(...this.#writesMs);
    if (dir === undefined) return { writeMs };
    const { bavail, blocks, bsize } = await statfs(dir);
    return { writeMs, disk: { dir, freeBytes: bavail * bsize, bytes: blocks * bsize } };
  }

  /** A slow store looks like a clock that is behind: the best of the last reports counts. */
  #clocks(living: readonly Omit<ProcessDocument, 'metrics'>[]): Installation['clocks'] {
    const known = new Set(living.map(({ _id }) => _id));
    for (const id of this.#skews.keys()) if (!known.has(id)) this.#skews.delete(id);
    for (const { _id, at, sentAt } of living) {
      if (sentAt === undefined) continue;
      const before = this.#skews.get(_id) ?? [];
      this.#skews.set(_id, [...before, sentAt.getTime() - at.getTime()].slice(-REMEMBERED));
    }
    const machines = new Map<string, number>();
    for (const [id, skews] of this.#skews) {
      const [machine = ''] = processName(parseIdentity(id)).split('/');
      const best = [...skews, machines.get(machine) ?? Number.POSITIVE_INFINITY];
      if (skews.length === REMEMBERED) machines.set(machine, best.sort((a, b) => Math.abs(a) - Math.abs(b))[0] ?? 0);
    }
    return [...machines].map(([machine, aheadMs]) => ({ machine, aheadMs }));
  }

  async #publicCertificate(): Promise<Installation['certificates']> {
    const { publicUrl } = this.#options;
    if (!publicUrl.startsWith('https:')) return [];
    const url = new URL(publicUrl);
    const nowMs = this.#clock.monotonicMs();
    if (this.#certificate === undefined || nowMs - this.#certificate.atMs > HOUR_MS) {
      this.#certificate = { until: await certificateUntil(url), atMs: nowMs };
    }
    const { until } = this.#certificate;
    return until === undefined ? [] : [{ whose: `The certificate of ${url.host}`, until }];
  }
}

/** Undefined when nothing is reached from here: whoever looks from outside may reach it. */
function certificateUntil({ hostname, port }: URL): Promise<Date | undefined> {
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host: hostname, servername: hostname, port: Number(port || 443) },
      // An ended certificate must be read too. Nothing is sent.
      rejectUnauthorized: false,
    });
    const end = (until?: Date): void => {
      socket.destroy();
      resolve(until);
    };
    socket.setTimeout(CONNECT_MS, () => end());
    socket.once('error', () => end());
    socket.once('secureConnect', () => {
      const { valid_to: until } = socket.getPeerCertificate();
      end(until === undefined ? undefined : new Date(until));
    });
  });
}
