import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { createServer as createTlsServer, type Server } from 'node:tls';
import { freePort } from '../../../scripts/bench/fleet.ts';
import { listenLocally } from '../../../scripts/simulator/listen.ts';
import type { SmscOptions } from '../../../scripts/simulator/smsc/options.ts';
import { type Smsc, startSmsc } from '../../../scripts/simulator/smsc.ts';
import type { NewCarrier } from '../../../shared/carriers/carrier-store.ts';
import { eventually } from '../../support/eventually.ts';
import { CARRIER, worldPerTest } from '../../support/smpp-world.ts';

const pem = (name: string): string => readFileSync(`test/fixtures/tls/${name}`, 'utf8');
const HERE = '127.0.0.1';

describe('smpp worker: where and how a carrier is reached', () => {
  const open = worldPerTest();
  const others: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });
  const another = async (options: Partial<SmscOptions> = {}): Promise<Smsc> => {
    const smsc = await startSmsc({ receiptDelayMs: 20, ...options });
    others.push(smsc);
    return smsc;
  };
  const isBound = (smsc: Smsc): Promise<unknown> => eventually(() => smsc.stats().binds > 0, 'it is bound');

  it('interface_version, TON, NPI and address_range of the bind are the carrier’s', async () => {
    const frames: Buffer[] = [];
    const onFrame = (direction: string, bytes: Buffer): void => {
      if (direction === 'in' && bytes.readUInt32BE(4) === 0x09) frames.push(Buffer.from(bytes));
    };
    const world = await open({
      smsc: { onFrame },
      carrier: { addresses: { bindAddress: '1/2', addressRange: '^561' }, submits: { interfaceVersion: '3.3' } },
    });
    await isBound(world.smsc);

    // SMPP 3.4 §4.1.5: system_id, password, system_type, interface_version, addr_ton, addr_npi, address_range.
    const tail = Buffer.from('harkara\0secret\0\0\x33\x01\x02^561\0', 'latin1');
    expect(frames[0]?.subarray(16).equals(tail)).to.equal(true);
  });

  it('the next host is tried when one does not let us bind, and the first one again behind the last', async () => {
    // The port stays reserved while nothing listens there.
    const second = await another({ port: await freePort() });
    const world = await open({
      carrier: { port: 1, links: { otherHosts: [{ host: HERE, port: second.port }] } },
    });
    await isBound(second);
    await world.reaches(await world.send({}), 'delivered');

    await second.close();
    await eventually(async () => {
      const report = await world.db.collection('bind_reports').findOne({ _id: CARRIER as never });
      return report?.binds?.[0]?.state === 'backoff';
    }, 'it is lost');
    others.push(await startSmsc({ port: second.port }));
    await eventually(async () => {
      const report = await world.db.collection('bind_reports').findOne({ _id: CARRIER as never });
      return report?.binds?.[0]?.state === 'bound';
    }, 'it is bound again');
  });

  it('transmitter and receiver have hosts of their own', async () => {
    const receiver = await another();
    const world = await open({
      carrier: { bindKind: 'pair', links: { receiverHosts: [{ host: HERE, port: receiver.port }] } },
    });

    await isBound(receiver);
    await isBound(world.smsc);
    await world.reaches(await world.send({}), 'sent');
    expect(receiver.sessions().map(({ kind }) => kind)).to.deep.equal(['receiver']);
    expect(world.smsc.sessions().map(({ kind }) => kind)).to.deep.equal(['transmitter']);
  });

  it('it is connected to again not sooner than the carrier wants', async () => {
    const world = await open({ carrier: { links: { reconnectMs: 1_500 } } });
    await isBound(world.smsc);

    const cutAt = performance.now();
    world.smsc.cutSessions();
    await eventually(() => world.smsc.stats().binds === 2, 'it is bound again');

    expect(performance.now() - cutAt).to.be.at.least(1_500);
  });

  describe('TLS', () => {
    /** TLS in front of an SMSC: its certificate is for smsc.example, and it asks the client for one. */
    const tlsPort = async (smscPort: number): Promise<number> => {
      const server: Server = createTlsServer(
        { cert: pem('server.pem'), key: pem('server.key'), ca: pem('ca.pem'), requestCert: true },
        (socket) => {
          const inner = connectTcp(smscPort, HERE);
          socket.pipe(inner).pipe(socket);
          for (const end of [socket, inner]) end.on('error', () => socket.destroy(inner.destroy() && undefined));
        },
      );
      server.on('tlsClientError', () => {}); // the client ends what it does not trust
      others.push({ close: () => server.close() });
      return listenLocally(server, 0);
    };
    const ours = { tlsCa: pem('ca.pem'), tlsCertificate: pem('client.pem'), tlsKey: pem('client.key') };
    const secure = async (trust: NewCarrier['trust']) => {
      const smsc = await another();
      const carrier = { port: await tlsPort(smsc.port), tls: true, ...(trust && { trust }) };
      return { world: await open({ carrier }), smsc };
    };
    const trouble = (world: Awaited<ReturnType<typeof open>>): Promise<string> =>
      eventually(async () => {
        const report = await world.db.collection('bind_reports').findOne({ _id: CARRIER as never });
        const code = report?.binds?.[0]?.trouble?.code;
        if (code === undefined) throw new Error('no trouble yet');
        return String(code);
      }, 'its trouble is reported');

    it('its own certificate authority and our certificate are used', async () => {
      const { world, smsc } = await secure({ ...ours, tlsHostName: 'unchecked' });

      await isBound(smsc);
      await world.reaches(await world.send({}), 'delivered');
    });

    it('without the authority nothing is sent, not even the password', async () => {
      const { world, smsc } = await secure({ tlsHostName: 'unchecked' });

      expect(await trouble(world)).to.match(/CERT|SIGNED|VERIFY|ISSUER/);
      expect(smsc.stats().binds + smsc.stats().refusedBinds).to.equal(0);
    });

    it('the host name is checked unless told otherwise', async () => {
      const { world } = await secure(ours);

      expect(await trouble(world)).to.equal('ERR_TLS_CERT_ALTNAME_INVALID');
    });
  });
});
