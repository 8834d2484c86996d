/** A command that an actor wants to send, or has sent. */
export interface Step {
  readonly actor: number;
  readonly collection: string;
  readonly writes: boolean;
}

/** Whether the order of the two matters. */
function matters(one: Step, other: Step): boolean {
  if (one.actor === other.actor) return true;
  return one.collection === other.collection && (one.writes || other.writes);
}

/** A choice between several commands. */
interface Fork {
  readonly open: readonly Step[];
  /** Orders that go on with one of these equal orders that were run ("sleep set"). */
  readonly asleep: Step[];
  /** Actors that must each go first here in some order ("source set"). */
  readonly wanted: Set<number>;
  chosen: Step;
}

/**
 * Goes through all orders of several actors' commands, but only one of those that differ where it does not matter:
 * partial order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas: "Optimal dynamic partial
 * order reduction", POPL 2014, algorithm 1). To run an order, ask `choose` until no command is left; `next` then
 * prepares another.
 */
export class AllOrders {
  readonly #path: Fork[] = [];
  #depth = 0;

  /** Which of the open commands goes next; undefined if every continuation was run before. */
  choose(open: readonly Step[]): Step | undefined {
    const known = this.#path[this.#depth];
    if (known !== undefined) {
      this.#depth += 1;
      return open.find(({ actor }) => actor === known.chosen.actor);
    }
    const above = this.#path.at(-1);
    const asleep = above === undefined ? [] : above.asleep.filter((step) => !matters(step, above.chosen));
    const chosen = open.find((step) => !has(asleep, step.actor));
    if (chosen === undefined) return undefined;
    this.#path.push({ open, asleep, wanted: new Set([chosen.actor]), chosen });
    this.#depth += 1;
    return chosen;
  }

  /** Call it after a run. False: there is no other order. */
  next(): boolean {
    this.#wantRaces();
    this.#depth = 0;
    for (let fork = this.#path.at(-1); fork !== undefined; fork = this.#path.at(-1)) {
      const { open, asleep, wanted, chosen } = fork;
      asleep.push(chosen);
      const other = open.find(({ actor }) => wanted.has(actor) && !has(asleep, actor));
      if (other !== undefined) {
        fork.chosen = other;
        return true;
      }
      this.#path.pop();
    }
    return false;
  }

  /**
   * For each pair of commands that could be reversed, plans an order that begins differently at the earlier one's fork:
   * with an actor that lets the later command come first.
   */
  #wantRaces(): void {
    const steps = this.#path.map(({ chosen }) => chosen);
    const before = causesOf(steps);
    for (const [j, causes] of before.entries()) {
      for (const i of causes) {
        if (steps[i]?.actor === steps[j]?.actor || [...causes].some((k) => before[k]?.has(i))) continue;
        const passing = [...steps.keys()].filter((k) => k > i && k <= j && (k === j || !before[k]?.has(i)));
        const first = passing.filter((k) => !passing.some((m) => before[k]?.has(m)));
        const actors = first.map((k) => steps[k]?.actor ?? 0);
        const wanted = this.#path[i]?.wanted;
        if (!actors.some((actor) => wanted?.has(actor))) wanted?.add(actors[0] ?? 0);
      }
    }
  }
}

/** For each step the earlier steps that it may depend on, directly or through others. */
function causesOf(steps: readonly Step[]): readonly ReadonlySet<number>[] {
  const before: Set<number>[] = [];
  for (const [j, step] of steps.entries()) {
    const causes = new Set<number>();
    for (const [i, earlier] of steps.slice(0, j).entries()) {
      if (!matters(earlier, step)) continue;
      causes.add(i);
      for (const cause of before[i] ?? []) causes.add(cause);
    }
    before.push(causes);
  }
  return before;
}

function has(steps: readonly Step[], actor: number): boolean {
  return steps.some((step) => step.actor === actor);
}
