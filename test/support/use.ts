const closers = new WeakMap<object, (() => unknown)[]>();

/** A part that a hook opens. Throws if it is read earlier, while the tests are only described. */
export function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('a hook opens it: read it in hooks and tests only');
  return part;
}

/**
 * For the body of a `describe`: opens a part before its tests and later hooks, and closes it after all other hooks,
 * last opened first. The result stands for the part and may be read in hooks and tests only.
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
    // Added now, it follows the hooks that the suite's body has added: these may still use the parts.
    suite.afterAll(async () => {
      for (const closePart of toClose.splice(0).reverse()) await closePart();
    });
  });
  // Methods run on the part itself, because a proxy lacks its private members.
  return new Proxy({} as T, {
    get(_, name) {
      const whole = opened(part);
      const value: unknown = Reflect.get(whole, name, whole);
      return typeof value === 'function' && !Object.hasOwn(whole, name) ? value.bind(whole) : value;
    },
    set: (_, name, value) => Reflect.set(opened(part), name, value),
  });
}
