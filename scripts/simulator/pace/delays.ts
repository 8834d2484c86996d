/** Width of one appointment: everything due within it happens together, on one timer. */
const STEP_MS = 5;

/** Runs things later. One timer per 5 ms in which something is due, however much that is: thousands of receipts a second cost little. */
export class Delays {
  readonly #due = new Map<number, { readonly timer: NodeJS.Timeout; readonly tasks: (() => void)[] }>();
  #size = 0;

  /** Things still to come. */
  get size(): number {
    return this.#size;
  }

  /** Runs `task` in `delayMs` or up to 5 ms later; at 0 or less, now. */
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

  /** Forgets everything that is still to come. */
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
