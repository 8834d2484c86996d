import type { CarrierDocument } from '../carrier.ts';
import { ADDRESSES } from '../settings/addresses.ts';
import { type HostAndPort, LINKS } from '../settings/links.ts';
import { withDefaults } from '../settings/setting.ts';
import { SUBMITS } from '../settings/submits.ts';
import type { BindCommand, BindFields } from './pdu.ts';

/** The bind requests that make up one bind. Submits go over the session of the first. */
export const BIND_COMMANDS: Readonly<Record<CarrierDocument['bindKind'], readonly BindCommand[]>> = {
  transceiver: ['bind_transceiver'],
  pair: ['bind_transmitter', 'bind_receiver'],
};

/** interface_version (SMPP 3.4 §5.2.4). By default the codec would say 5.0, which some carriers refuse. */
const VERSIONS = { '3.3': 0x33, '3.4': 0x34, '5.0': 0x50 } as const;

export function bindFields(carrier: CarrierDocument, password: string): BindFields {
  const { bindAddress, addressRange } = withDefaults(ADDRESSES, carrier.addresses);
  const { interfaceVersion } = withDefaults(SUBMITS, carrier.submits);
  const [ton = 0, npi = 0] = bindAddress.split('/').map(Number);
  return {
    system_id: carrier.systemId,
    password,
    system_type: carrier.systemType,
    interface_version: VERSIONS[interfaceVersion],
    addr_ton: ton,
    addr_npi: npi,
    address_range: addressRange,
  };
}

/**
 * The host that a session of this kind connects to. `turn` counts the failed tries since the last bind that worked;
 * each try uses the next host. With two lists (a pair), each host of one is tried with each host of the other, because
 * any may be down.
 */
export function hostOf(carrier: CarrierDocument, command: BindCommand, turn: number): HostAndPort {
  const { usual, receivers } = hostsOf(carrier);
  const isReceiver = command === 'bind_receiver' && receivers.length > 0;
  const hosts = isReceiver ? receivers : usual;
  return hosts[(isReceiver ? Math.floor(turn / usual.length) : turn) % hosts.length] ?? usual[0];
}

/** After this many tries each host, or each combination for a pair, was tried. */
export function turnsOf(carrier: CarrierDocument): number {
  const { usual, receivers } = hostsOf(carrier);
  return usual.length * Math.max(receivers.length, 1);
}

function hostsOf(carrier: CarrierDocument): {
  readonly usual: readonly [HostAndPort, ...HostAndPort[]];
  readonly receivers: readonly HostAndPort[];
} {
  const { otherHosts, receiverHosts } = withDefaults(LINKS, carrier.links);
  return { usual: [{ host: carrier.host, port: carrier.port }, ...otherHosts], receivers: receiverHosts };
}
