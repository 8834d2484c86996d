import { HttpLane } from './http-lane.ts';
import { nextDestination } from './load.ts';
import { machineMs } from './machine-time.ts';
import type { Stage } from './stage.ts';
import { SENDER, TEXT } from './target.ts';

export interface ScheduleResult {
  readonly schedules: number;
  readonly bookedPerSecond: number;
  /** From the booked second until the last schedule had become a queued message, in milliseconds. */
  readonly releasedMs: number;
  readonly refused: Readonly<Record<string, number>>;
}

/** Bookings a second on the slowest machine. Decides how far ahead the booked second must be. */
const BOOKINGS_PER_SECOND = 150;
const LOOK_MS = 20;
const STALL_MS = 60_000;

/** Books `total` schedules for the same second, on a route that no carrier serves, and waits until all are queued. */
export async function releaseTogether(stage: Stage, connections: number, total: number): Promise<ScheduleResult> {
  const at = new Date(Math.ceil(Date.now() / 1_000 + 5 + total / BOOKINGS_PER_SECOND) * 1_000);
  const refused: Record<string, number> = {};
  const { hostname, port } = new URL(stage.url);
  const firstMs = machineMs();
  let left = total;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const lane = new HttpLane(hostname, Number(port));
      while (left > 0) {
        const key = stage.keys[left % stage.keys.length];
        left -= 1;
        const to = nextDestination();
        const body = { to, message: TEXT, sender: SENDER, route: 'promotional', schedule_time: at.toISOString() };
        const headers = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
        const { status } = await lane.post('/v2/schedule', headers, JSON.stringify(body));
        if (status !== 200) refused[status] = (refused[status] ?? 0) + 1;
      }
      lane.close();
    }),
  );
  const bookedPerSecond = (total / (machineMs() - firstMs)) * 1_000;
  // A schedule has the field `due` until its message is stored. A partial index serves this count.
  const waiting = () => stage.db.collection('schedules').countDocuments({ due: { $exists: true } });
  const deadline = at.getTime() + STALL_MS;
  while ((await waiting()) > 0) {
    if (Date.now() > deadline) throw new Error('schedules are not released');
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return { schedules: total, bookedPerSecond, releasedMs: Date.now() - at.getTime(), refused };
}
