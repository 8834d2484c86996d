/** What a suite has opened, in its order. */
const closers = new WeakMap<object, (() => unknown)[]>();

/** A part of a world, which a hook opens. Throws when it is read earlier, while the tests are only described. */
export function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('a hook opens it: read it in hooks and tests only');
  return part;
}

/**
 * For the body of a `describe`: opens a part before its tests and the hooks below, and closes it behind every other hook of the suite,
 * the last one opened first. What it returns stands for the part and may be read in hooks and tests only.
 */
export function use<T extends { close(): unknown }>(open: () => Promise<T>): T;
export function use<T extends object>(open: () => Promise<T>, close: (part: T) => unknown): T;
export function use<T extends { close?(): unknown }>(
  open: () => Promise<T>,
  close: (part: T) => unknown = (part) => part.close?.(),
): T {
  let part: T | undefined;
  before(async function () {
    const made = await open();
    part = made;
    const suite = this.test?.parent;
    if (suite === undefined) throw new Error('a hook is of a suite');
    const toClose = closers.get(suite) ?? [];
    toClose.push(() => close(made));
    if (closers.has(suite)) return;
    closers.set(suite, toClose);
    // Added now, it comes behind the hooks that the suite's body has added: what they close may still use these parts.
    suite.afterAll(async () => {
      for (const closePart of toClose.splice(0).reverse()) await closePart();
    });
  });
  // It stands for the part, whose methods run on the part itself: a proxy has none of its private members.
  return new Proxy({} as T, {
    get(_, name) {
      const whole = opened(part);
      const value: unknown = Reflect.get(whole, name, whole);
      return typeof value === 'function' && !Object.hasOwn(whole, name) ? value.bind(whole) : value;
    },
    set: (_, name, value) => Reflect.set(opened(part), name, value),
  });
}
