/** PM2's news about a process, as the guard passes it on. */
export type AppNews =
  | { readonly kind: 'online'; readonly app: string }
  | { readonly kind: 'ended'; readonly app: string; readonly code: number; readonly signal: string };

/** Lines of PM2 7, such as `2026-11-21T10:00:00: PM2 log: App [gateway:2] exited with code [1] via signal [SIGINT]`. */
const ONLINE = / PM2 log: App \[([\w-]+):\d+\] online$/;
const EXITED = / PM2 log: App \[([\w-]+):\d+\] exited with code \[(\d+)\] via signal \[(\w+)\]$/;

/** Undefined for other lines. */
export function parsePm2Line(line: string): AppNews | undefined {
  const [, online] = ONLINE.exec(line) ?? [];
  if (online !== undefined) return { kind: 'online', app: online };
  const [, app, code, signal] = EXITED.exec(line) ?? [];
  if (app === undefined || signal === undefined) return undefined;
  return { kind: 'ended', app, code: Number(code), signal };
}
