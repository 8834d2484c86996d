/**
 * Node's options for every process of the product.
 *
 * `--single-threaded-gc`: by default V8 collects garbage with four helper threads in each process. On a machine with few cores they
 * take CPU from all processes and shorten no pause (docs/decisions/0056).
 *
 * The other two are for processes that have little to do (docs/decisions/0092). V8 collects garbage several times when a process
 * becomes quiet, to give memory back, and drops the bytecode of functions that were not called for a while, which are then compiled
 * again at the next call.
 */
export const NODE_FLAGS = ['--single-threaded-gc', '--no-memory-reducer', '--no-flush-bytecode'] as const;
