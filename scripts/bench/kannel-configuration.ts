/** TCP ports of 127.0.0.1. */
export interface KannelPorts {
  readonly admin: number;
  /** Where smsbox connects to bearerbox. */
  readonly box: number;
  readonly sendsms: number;
}

export interface KannelSettings {
  readonly ports: KannelPorts;
  readonly smscPort: number;
  /** The most submit_sm of the bind that wait for their answer at a time. */
  readonly window: number;
  /** Where the file store and the logs go. */
  readonly folder: string;
}

/** The user that `/cgi-bin/sendsms` knows. */
export const KANNEL_USER = { username: 'bench', password: 'bench' } as const;

/**
 * One bind. Kannel keeps what it accepted in a file, which survives a crash of the process but is never synced. It logs errors,
 * and as little else as the manual allows.
 */
export function configuration({ ports, smscPort, window, folder }: KannelSettings): string {
  return `
group = core
admin-port = ${ports.admin}
admin-interface = 127.0.0.1
admin-password = bench
smsbox-port = ${ports.box}
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1
dlr-storage = internal
store-type = file
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
`;
}
