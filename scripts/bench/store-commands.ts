import type { ChildProcess } from 'node:child_process';

/** The question that `command-counter.ts` answers. */
export const COUNT_COMMANDS = 'how many commands';

/** How many commands these processes have sent to the store since their start. */
export async function storeCommands(processes: readonly ChildProcess[]): Promise<number> {
  const counts = await Promise.all(processes.map(ask));
  return counts.reduce((sum, count) => sum + count, 0);
}

function ask(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if (typeof message !== 'object' || message === null || !('commands' in message)) return;
      child.off('message', hear);
      resolve(Number(message.commands));
    };
    child.on('message', hear);
    child.send(COUNT_COMMANDS);
  });
}
