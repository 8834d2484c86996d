/** Tasks that are due within the same step run together, on one timer. */
const STEP_MS = 5;

/**
 * Runs tasks later. Needs one timer per step of 5 ms, however many tasks the step has. So thousands of receipts a second cost
 * little.
 */
export class Delays {
  readonly #due = new Map<number, { readonly timer: NodeJS.Timeout; readonly tasks: (() => void)[] }>();
  #size = 0;

  /** Number of tasks that have not run yet. */
  get size(): number {
    return this.#size;
  }

  /** Runs `task` after `delayMs`, or up to 5 ms later. If `delayMs` is 0 or less, runs it at once. */
  after(delayMs: number, task: () => void): void {
    if (delayMs <= 0) {
      task();
      return;
    }
    const now = performance.now();
    const step = Math.ceil((now + delayMs) / STEP_MS);
    this.#size += 1;
    const appointment = this.#due.get(step);
    if (appointment !== undefined) {
      appointment.tasks.push(task);
      return;
    }
    const timer = setTimeout(() => this.#run(step), step * STEP_MS - now);
    this.#due.set(step, { timer, tasks: [task] });
  }

  /** Forgets all tasks that have not run yet. */
  clear(): void {
    for (const { timer } of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
    this.#size = 0;
  }

  #run(step: number): void {
    const tasks = this.#due.get(step)?.tasks ?? [];
    this.#due.delete(step);
    this.#size -= tasks.length;
    for (const task of tasks) task();
  }
}
