import type { ABORT, RootDatabase } from 'lmdb';

/** An open LMDB transaction. `end` commits it, or aborts it with `ABORT`; then `ended` resolves. */
export interface OpenTransaction {
  readonly end: (how: typeof ABORT | undefined) => void;
  readonly ended: Promise<unknown>;
}

export function beginTransaction(root: RootDatabase<Buffer, Buffer>): OpenTransaction {
  let end: OpenTransaction['end'] = () => {};
  const held = new Promise<typeof ABORT | undefined>((resolve) => {
    end = resolve;
  });
  const ended = root.transactionSync(() => held); // open until the promise resolves
  return { end, ended };
}
