/**
 * Node's options for every process of the product. By default V8 collects garbage with four helper threads in each process. On a
 * machine with few cores they take CPU from all processes and shorten no pause (docs/decisions/0056).
 */
export const NODE_FLAGS = ['--single-threaded-gc'] as const;
