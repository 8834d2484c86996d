import { BSON, type Document, Double, Int32, Long } from 'mongodb';
import { answer, answersTo, MessageCutter, readAnswer, readCommand, requestIdOf, rewritten } from './framing.ts';

/** As source/message/OP_MSG.md draws it. */
function opMsg(flags: number, ...sections: readonly Buffer[]): Buffer {
  const checksum = Buffer.alloc(flags & 1 ? 4 : 0, 0xee);
  const body = Buffer.concat([...sections, checksum]);
  const head = Buffer.alloc(20);
  [20 + body.length, 7, 0, 2013].forEach((field, i) => void head.writeInt32LE(field, 4 * i));
  head.writeUInt32LE(flags, 16);
  return Buffer.concat([head, body]);
}
const single = (document: Document): Buffer => Buffer.concat([Buffer.of(0), BSON.serialize(document)]);
function sequence(name: string, ...documents: readonly Document[]): Buffer {
  const body = Buffer.concat([Buffer.from(`${name}\0`), ...documents.map((document) => BSON.serialize(document))]);
  const size = Buffer.alloc(4);
  size.writeInt32LE(4 + body.length);
  return Buffer.concat([Buffer.of(1), size, body]);
}

describe('the tests’ own reading of the wire', () => {
  const update = { update: 'messages', ordered: false, $db: 'test' };
  const [first, second] = [
    { q: { _id: 1 }, u: { $set: { a: 1 } } },
    { q: { _id: 2 }, u: [{ $unset: 'b' }] },
  ];

  for (const [what, message] of [
    ['one document', opMsg(0, single({ ...update, updates: [first, second] }))],
    ['a sequence behind it', opMsg(0, single(update), sequence('updates', first, second))],
    ['a sequence before it', opMsg(0, sequence('updates', first, second), single(update))],
    ['a checksum at the end', opMsg(1, sequence('updates', first, second), single(update))],
    ['no answer wanted', opMsg(2, single(update), sequence('updates', first, second))],
  ] as const) {
    it(`reads a command: ${what}`, () => {
      const command = readCommand(message);

      expect(command).to.include({
        name: 'update',
        collection: 'messages',
        answered: (message.readUInt32LE(16) & 2) === 0,
      });
      expect(command.body()).to.deep.equal({ ...update, updates: [first, second] });
    });
  }

  it('reads the first hello of a connection, and answers it in its form', () => {
    const body = BSON.serialize({ ismaster: 1, helloOk: true });
    const collection = Buffer.from('admin.$cmd\0');
    const head = Buffer.alloc(20);
    [20 + collection.length + 8 + body.length, 9, 0, 2004].forEach((field, i) => void head.writeInt32LE(field, 4 * i));
    const query = Buffer.concat([head, collection, Buffer.alloc(8), body]);

    const command = readCommand(query);
    const reply = answer(query, { ok: 1 });

    expect(command).to.include({ name: 'ismaster', collection: undefined, answered: true });
    expect([answersTo(reply), reply.readInt32LE(12), reply.readInt32LE(32)]).to.deep.equal([9, 1, 1]);
    expect(BSON.deserialize(reply.subarray(36))).to.deep.equal({ ok: 1 });
  });

  it('cuts a stream into messages, however it comes', () => {
    const messages = [single({ ping: 1 }), single({ find: 'x'.repeat(3_000) }), single({ ping: 2 })].map((section) =>
      opMsg(0, section),
    );
    const stream = Buffer.concat(messages);

    for (const size of [1, 3, 15, 16, 21, 1_000, stream.length]) {
      const cutter = new MessageCutter();
      const cut: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) cut.push(...cutter.cut(stream.subarray(at, at + size)));

      expect(cut, `in pieces of ${size}`).to.deep.equal(messages);
    }
  });

  it('writes a command again without sequences or checksum, for one answer to the same request', () => {
    const command = readCommand(opMsg(1 | (1 << 16), sequence('updates', first, second), single(update)));

    const again = readCommand(rewritten(command, { ...command.body(), updates: [first] }));

    expect(again.body()).to.deep.equal({ ...update, updates: [first] });
    expect(requestIdOf(again.message)).to.equal(7);
    expect([command.streams, again.streams]).to.deep.equal([true, false]);
    expect(again.message.readUInt32LE(16) & 1).to.equal(0);
  });

  it('keeps the types of an answer that it writes again', () => {
    const document = {
      cursor: { id: Long.fromString('9007199254740993'), firstBatch: [{ a: new Double(1), b: new Int32(1) }] },
    };
    const request = opMsg(0, single({ find: 'x' }));

    const again = answer(request, readAnswer(answer(request, document)));

    expect(readAnswer(again)).to.deep.equal(document);
  });

  it('refuses what no driver here may send', () => {
    const compressed = opMsg(0, single({ ping: 1 }));
    compressed.writeInt32LE(2012, 12);

    expect(() => readCommand(compressed)).to.throw('opcode 2012');
    expect(() => new MessageCutter().cut(Buffer.alloc(16))).to.throw('0 bytes');
  });
});
