/**
 * The log file that PM2 has chosen for this process; undefined when it does not run under PM2. The process writes its log there
 * itself. In cluster mode file descriptor 1 is PM2's own output, not that file. And a log line that goes through PM2 (pipe, bus)
 * costs PM2 46 µs: 12 % of a core at 2,400 lines a second, against 1 % when the process writes for itself.
 */
export function pm2LogFile(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment.pm_out_log_path;
}
