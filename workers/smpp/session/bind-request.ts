import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { ADDRESSES } from '../../../shared/carriers/settings/addresses.ts';
import { type HostAndPort, LINKS } from '../../../shared/carriers/settings/links.ts';
import { withDefaults } from '../../../shared/carriers/settings/setting.ts';
import { SUBMITS } from '../../../shared/carriers/settings/submits.ts';
import type { BindCommand, BindFields } from './pdu.ts';

/** The binds that make one bind of a carrier; the first one submits. */
export const BIND_COMMANDS: Readonly<Record<CarrierDocument['bindKind'], readonly BindCommand[]>> = {
  transceiver: ['bind_transceiver'],
  pair: ['bind_transmitter', 'bind_receiver'],
};

/** SMPP 3.4 §5.2.4; the codec's own default is 5.0, which some carriers refuse. */
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

/** Where a session of this kind connects: at the `turn`-th try without success since the last bind that worked. */
export function hostOf(carrier: CarrierDocument, command: BindCommand, turn: number): HostAndPort {
  const { otherHosts, receiverHosts } = withDefaults(LINKS, carrier.links);
  const first = { host: carrier.host, port: carrier.port };
  const hosts = command === 'bind_receiver' && receiverHosts.length > 0 ? receiverHosts : [first, ...otherHosts];
  return hosts[turn % hosts.length] ?? first;
}
