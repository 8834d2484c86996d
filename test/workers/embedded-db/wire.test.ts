import { connect, type Socket } from 'node:net';
import { serialize } from 'bson';
import fc from 'fast-check';
import { use } from '../../support/use.ts';
import { EMBEDDED, storeUnderTest } from './store-under-test.ts';

/** An OP_MSG with a body; each part can be made wrong. */
function message({ length = 0, op = 2013, flags = 0, kind = 0, body = serialize({ ping: 1, $db: 'x' }) } = {}): Buffer {
  const out = Buffer.alloc(21 + body.length);
  out.writeInt32LE(length === 0 ? out.length : length, 0);
  out.writeInt32LE(1, 4);
  out.writeInt32LE(op, 12);
  out.writeUInt32LE(flags, 16);
  out[20] = kind;
  out.set(body, 21);
  return out;
}

function bent(body: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(body);
  copy[at] = byte;
  return copy;
}

if (EMBEDDED) {
  describe('embedded-db wire', () => {
    const store = use(storeUnderTest);
    let path: string;
    before(async () => {
      path = decodeURIComponent(store.uri.slice('mongodb://'.length));
    });

    /** Received messages until the server closes, or has sent `replies`. */
    async function exchange(bytes: Buffer, replies: number): Promise<{ answered: number; closed: boolean }> {
      const socket: Socket = connect(path);
      let received = Buffer.alloc(0);
      let closed = false;
      await new Promise<void>((resolve) => {
        socket.on('close', () => {
          closed = true;
          resolve();
        });
        socket.on('error', () => {});
        socket.on('data', (chunk) => {
          received = Buffer.concat([received, chunk]);
          if (count(received) >= replies) resolve();
        });
        socket.write(bytes);
      });
      socket.destroy();
      return { answered: count(received), closed };
    }

    function count(received: Buffer): number {
      let at = 0;
      let messages = 0;
      while (at + 4 <= received.length && at + received.readInt32LE(at) <= received.length) {
        at += received.readInt32LE(at);
        messages++;
      }
      return messages;
    }

    const body = Buffer.from(serialize({ ping: 1, $db: 'x', s: 'text', o: { a: [1] }, b: Buffer.from('bin') }));
    const HOSTILE: readonly (readonly [name: string, bytes: Buffer])[] = [
      ['a negative length', message({ length: -5 })],
      ['a length shorter than a header', message({ length: 7 })],
      ['a length beyond all messages', message({ length: 0x7fffffff })],
      ['an unknown operation', message({ op: 4711 })],
      ['compressed messages, which were not agreed on', message({ op: 2012 })],
      ['unknown required flags', message({ flags: 1 << 5 })],
      ['an unknown kind of section', message({ kind: 9 })],
      ['a section that ends beyond the message', message({ kind: 1, body: bent(body, 0, 0xff) })],
      ['a document longer than its message', message({ body: bent(body, 0, 0xff) })],
      ['a document without its end', message({ body: bent(body, body.length - 1, 1) })],
      ['an unknown type', message({ body: bent(body, 4, 0x42) })],
      ['a string beyond its document', message({ body: bent(body, body.indexOf('text') - 2, 0x7f) })],
      ['no body at all', message({ body: Buffer.alloc(0) })],
      ['text of another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ];
    for (const [name, bytes] of HOSTILE) {
      it(`closes the connection after ${name}, and goes on serving`, async () => {
        expect(await exchange(bytes, 1)).to.deep.equal({ answered: 0, closed: true });
        expect(await store.db.command({ ping: 1 })).to.include({ ok: 1 });
      });
    }

    it('survives any bytes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(body.length - 1),
          fc.nat(255),
          fc.uint8Array({ maxLength: 40 }),
          async (at, byte, noise) => {
            const socket = connect(path);
            socket.on('error', () => {});
            await new Promise<void>((resolve) => socket.once('connect', resolve));
            socket.write(Buffer.concat([message({ body: bent(body, at, byte) }), noise]));
            await new Promise<void>((resolve) => socket.end(resolve));
            socket.destroy();
          },
        ),
        { numRuns: 200 },
      );
      expect(await store.db.command({ ping: 1 })).to.include({ ok: 1 });
    });

    it('lets a client leave in the midst of a message', async () => {
      const socket = connect(path);
      await new Promise<void>((resolve) => socket.once('connect', resolve));
      await new Promise<void>((resolve) => socket.write(message().subarray(0, 20), () => resolve()));
      socket.destroy();

      expect(await store.db.command({ ping: 1 })).to.include({ ok: 1 });
    });

    it('answers messages that arrive together, or byte by byte, one after the other', async () => {
      const three = Buffer.concat([message(), message(), message()]);
      expect(await exchange(three, 3)).to.deep.equal({ answered: 3, closed: false });

      const socket = connect(path);
      const answered = new Promise<void>((resolve) => socket.once('data', () => resolve()));
      for (const byte of message())
        await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()));
      await answered;
      socket.destroy();
    });

    it('takes a document of 15 MB and refuses one above 16 MB', async () => {
      const all = store.collection();
      await all.insertOne({ _id: 1, big: Buffer.alloc(15 * 1024 * 1024) });
      expect((await all.findOne({ _id: 1 }))?.big.length()).to.equal(15 * 1024 * 1024);

      const socket = connect(path);
      const tooBig = serialize({
        insert: all.collectionName,
        $db: store.db.databaseName,
        documents: [{ _id: 2, big: Buffer.alloc(16 * 1024 * 1024) }],
      });
      const reply = await new Promise<Buffer>((resolve) => {
        socket.once('data', resolve);
        socket.write(message({ body: tooBig }));
      });
      socket.destroy();
      expect(reply.includes('BSONObj size')).to.equal(true);
      expect(await all.countDocuments()).to.equal(1);
    });
  });
}
