/** TCP ports of 127.0.0.1. */
export interface KannelPorts {
  readonly admin: number;
  /** Where smsbox connects to bearerbox. */
  readonly box: number;
  readonly sendsms: number;
  readonly redis: number;
}

/**
 * Where Kannel keeps what it accepted until it is sent. `file`: a file that is written now and then and never synced. `spool`: a file
 * for each message, which survives the end of the process. `redis`: a server of its own, which also knows what receipts are for; the
 * other two keep that in the memory of the process.
 */
export const KANNEL_STORES = ['file', 'spool', 'redis'] as const;
export type KannelStore = (typeof KANNEL_STORES)[number];

export interface KannelSettings {
  readonly store: KannelStore;
  readonly ports: KannelPorts;
  readonly smscPort: number;
  /** The most submit_sm of the bind that wait for their answer at a time. */
  readonly window: number;
  /** Where stored messages and the logs go. */
  readonly folder: string;
}

/** The user that `/cgi-bin/sendsms` knows. */
export const KANNEL_USER = { username: 'bench', password: 'bench' } as const;

/** One bind. It logs errors, and as little else as the manual allows. */
export function configuration({ store, ports, smscPort, window, folder }: KannelSettings): string {
  return `
group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = bench
smsbox-port = ${ports.box}
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = ${store === 'redis' ? 'redis' : 'internal'}
store-type = ${store}
store-location = ${folder}/kannel.store
log-file = ${folder}/bearerbox.log
log-level = 3

group = smsc
smsc = smpp
smsc-id = simulator
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = bench
smsc-password = bench
system-type = ""
interface-version = 34
max-pending-submits = ${window}
reconnect-delay = 1

group = smsbox
bearerbox-host = 127.0.0.1
bearerbox-port = ${ports.box}
sendsms-port = ${ports.sendsms}
sendsms-interface = 127.0.0.1
log-file = ${folder}/smsbox.log
log-level = 3

group = sendsms-user
username = ${KANNEL_USER.username}
password = ${KANNEL_USER.password}
max-messages = 10
concatenation = true

group = sms-service
keyword = default
text = "thanks"
max-messages = 1
omit-empty = true
${store === 'redis' ? redisGroups(ports) : ''}`;
}

function redisGroups(ports: KannelPorts): string {
  return `
group = redis-connection
id = store
host = 127.0.0.1
port = ${ports.redis}
database = 0
max-connections = 10

group = store-db
id = store
table = store

group = dlr-db
id = store
table = dlr
field-smsc = smsc
field-timestamp = ts
field-source = source
field-destination = destination
field-service = service
field-url = url
field-mask = mask
field-status = status
field-boxc-id = boxc
`;
}
