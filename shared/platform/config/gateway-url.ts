import type { Config } from './settings.ts';

/** Where a program on this machine reaches the API. */
export function gatewayUrl(config: Pick<Config, 'host' | 'port'>): string {
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
}

/** Where browsers reach the gateway. */
export function publicUrl(config: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return config.publicUrl === '' ? gatewayUrl(config) : config.publicUrl;
}
