import { type Shape, setting } from './setting.ts';
import { listOf, whole } from './shapes.ts';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const hostAndPort: Shape<HostAndPort> = {
  value: 'HOST:PORT',
  form: 'like smsc.example:2775 or [2001:db8::1]:2775',
  parse: (text) => {
    const [, six, name, digits] = /^(?:\[([0-9a-fA-F:]+)\]|([^\s/:,[\]]{1,253})):(\d{1,5})$/.exec(text) ?? [];
    const host = six ?? name;
    const port = Number(digits);
    return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
  },
  show: ({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
};

const MAX_HOSTS = 10;

/** The carrier's other addresses, and how soon it may be connected to again. */
export const LINKS = {
  otherHosts: setting(
    listOf(hostAndPort, MAX_HOSTS),
    [],
    'tried in this order when the host does not let us bind, then the host again',
    { kannel: 'a group smsc each', jasmin: 'a connector each' },
  ),
  receiverHosts: setting(
    listOf(hostAndPort, MAX_HOSTS),
    [],
    'with the bind kind pair: where the receiver binds, in order; none: where the transmitter does',
    { kannel: 'receive-port', jasmin: 'a connector each' },
  ),
  reconnectMs: setting(
    whole('MS', 0, 3_600_000),
    0,
    'shortest pause before connecting again, in milliseconds; ours grows from 0 to 60 s',
    { kannel: 'reconnect-delay', jasmin: 'con_loss_delay, con_fail_delay' },
  ),
};
