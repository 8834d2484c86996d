import type { Db } from 'mongodb';

export interface HeldInserts {
  readonly db: Db;
  /** Releases the waiting inserts and all later ones. */
  release(): void;
}

export function holdInserts(db: Db, collection: string): HeldInserts {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = new Proxy(db, {
    get(target, property) {
      if (property !== 'command') return Reflect.get(target, property);
      return async (...[command, options]: Parameters<Db['command']>) => {
        if (command.insert === collection) await released;
        return target.command(command, options);
      };
    },
  });
  return { db: held, release };
}
