import { writeFile } from 'node:fs/promises';

/** One SMPP frame as one end saw it. `in`: towards the SMPP port. */
export interface CapturedFrame {
  readonly direction: 'in' | 'out';
  readonly bytes: Buffer;
  /** The same for all frames of a connection, from 0 to 20,000. */
  readonly sessionId: number;
  /** Milliseconds since 1970. Default: the position in the list. */
  readonly at?: number;
}

/** LINKTYPE_RAW: packets begin with the IPv4 header. */
const RAW_IP = 101;

/** Octets of payload per packet, below an IPv4 packet's 65,535, so that long PDUs span packets as on a real link. */
const MAX_PAYLOAD = 16_000;

const FIRST_CLIENT_PORT = 40_000;
const LOOPBACK = Buffer.of(127, 0, 0, 1);

/**
 * Writes frames as a capture for tshark and Wireshark, which needs no rights to capture. Each connection has its own
 * client port; there are no handshakes, and checksums are zero.
 */
export async function writePcap(frames: readonly CapturedFrame[], file: string, smppPort: number): Promise<void> {
  const nextSequence = new Map<string, number>();
  const packets: Buffer[] = [fileHeader()];
  for (const [index, { direction, bytes, sessionId, at }] of frames.entries()) {
    const clientPort = FIRST_CLIENT_PORT + sessionId;
    const [source, target] = direction === 'in' ? [clientPort, smppPort] : [smppPort, clientPort];
    for (let start = 0; start < bytes.length; start += MAX_PAYLOAD) {
      const payload = bytes.subarray(start, start + MAX_PAYLOAD);
      const sent = nextSequence.get(`${source} ${target}`) ?? 1;
      const acknowledged = nextSequence.get(`${target} ${source}`) ?? 1;
      nextSequence.set(`${source} ${target}`, sent + payload.length);
      packets.push(packet(at ?? index, source, target, sent, acknowledged, payload));
    }
  }
  await writeFile(file, Buffer.concat(packets));
}

/** The classic libpcap header: magic number, version 2.4, microseconds. */
function fileHeader(): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(0xffff, 16);
  header.writeUInt32LE(RAW_IP, 20);
  return header;
}

function packet(
  at: number,
  sourcePort: number,
  targetPort: number,
  sequence: number,
  acknowledged: number,
  payload: Buffer,
): Buffer {
  const ip = Buffer.alloc(20);
  ip[0] = 0x45;
  ip.writeUInt16BE(40 + payload.length, 2);
  ip[8] = 64;
  ip[9] = 6;
  LOOPBACK.copy(ip, 12);
  LOOPBACK.copy(ip, 16);

  const tcp = Buffer.alloc(20);
  tcp.writeUInt16BE(sourcePort, 0);
  tcp.writeUInt16BE(targetPort, 2);
  tcp.writeUInt32BE(sequence >>> 0, 4);
  tcp.writeUInt32BE(acknowledged >>> 0, 8);
  tcp[12] = 0x50;
  tcp[13] = 0x18; // PSH, ACK
  tcp.writeUInt16BE(0xffff, 14);

  const record = Buffer.alloc(16);
  const octets = ip.length + tcp.length + payload.length;
  record.writeUInt32LE(Math.floor(at / 1_000), 0);
  record.writeUInt32LE((at % 1_000) * 1_000, 4);
  record.writeUInt32LE(octets, 8);
  record.writeUInt32LE(octets, 12);
  return Buffer.concat([record, ip, tcp, payload]);
}
