import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import {
  queueable,
  queueDocument,
  unpackLines,
  WRITE_OUT_MS,
  writtenDocument,
} from '../../../../shared/messages/queue/queue-document.ts';
import { newId, queueId } from '../../../../shared/platform/runtime/ids.ts';
import { makeMessage } from '../../../support/make.ts';
import { useStore } from '../../../support/store.ts';

const HINDI = 'नमस्ते, आपका OTP 123456 है। 🙏';
const NOW = new Date('2026-11-21T10:00:00Z');
const linesOf = (messages: readonly MessageDocument[]) => queueDocument(queueId(newId('msg'), 0), messages, NOW).lines;

describe('lines of a queue document', () => {
  const cases: readonly (readonly [string, () => readonly Partial<MessageDocument>[]])[] = [
    ['one', () => [{}]],
    ['two that are the same but for their ids', () => [{}, {}]],
    ['of different texts, in any script', () => [{ text: HINDI, encoding: 'UCS2' }, { text: '' }, { text: 'a\n€\0' }]],
    ['of which some have a field that others lack', () => [{ ref: 'order 1' }, {}, { ref: 'order 3' }, {}]],
    ['of which only the last has a field', () => [{}, {}, { template: '1107160000000000001', entityId: '11' }]],
    ['with dates, equal and different', () => [{}, { validUntil: new Date(1) }, { validUntil: new Date(1) }]],
    ['with lists and documents', () => [{ attempts: [attempt('a')] }, { attempts: [attempt('b')] }, { history: [] }]],
    ['with the same list', () => [{ attempts: [attempt('a')] }, { attempts: [attempt('a')] }]],
    [
      'with numbers, small and large',
      () => [
        { segments: 1, v: 0 },
        { segments: 255, v: 2 ** 40 },
      ],
    ],
    ['as many as a document can have', () => Array.from({ length: 200 }, (_, i) => ({ text: `${HINDI} ${i}` }))],
  ];
  const attempt = (carrier: string) => ({ carrier, at: new Date(1_700_000_000_123), code: '0x0B', reason: 'invalid' });

  for (const [what, make] of cases) {
    it(`come back as they were: ${what}`, () => {
      const account = newId('acc');
      const messages = make().map((own) => makeMessage({ account, _id: newId('msg'), ...own }));

      expect(unpackLines(linesOf(messages))).to.deep.equal(messages);
    });
  }

  it('a field that is set to undefined is a field that is not there', () => {
    const [first, second] = [makeMessage(), makeMessage()];
    const messages = [
      { ...first, ref: undefined },
      { ...second, ref: 'x' },
    ];

    const [one, other] = unpackLines<object>(linesOf(messages as never));

    expect(one).to.deep.equal(first);
    expect(other).to.deep.equal({ ...second, ref: 'x' });
  });

  describe('in the store', () => {
    const store = useStore();

    it('come back as they were, too', async () => {
      const messages = Array.from({ length: 3 }, (_, i) => makeMessage({ text: `${HINDI} ${i}` }));
      const collection = store.db.collection<ReturnType<typeof writtenDocument>>('queue');
      const document = queueDocument(queueId(newId('msg'), 0), messages, NOW);
      await collection.insertOne(document);

      const found = await collection.findOne({ _id: document._id });

      expect(found === null ? [] : unpackLines(found.lines)).to.deep.equal(messages);
    });
  });
});

describe('queueable', () => {
  const ids = (pieces: readonly (readonly MessageDocument[])[]) => pieces.map((piece) => piece.map(({ _id }) => _id));
  const account = newId('acc');
  const many = (count: number, more: Partial<MessageDocument> = {}) =>
    Array.from({ length: count }, () => makeMessage({ account, _id: newId('msg'), ...more }));

  it('200 lines are one document, 201 are two, and their order stays', () => {
    const messages = many(201);

    expect(queueable(messages.slice(0, 200)).map((piece) => piece.length)).to.deep.equal([200]);
    expect(ids(queueable(messages))).to.deep.equal(ids([messages.slice(0, 200), messages.slice(200)]));
  });

  it('long texts fill a document sooner; one that is too long for any has its own', () => {
    const long = many(5, { text: 'x'.repeat(10_000) });
    const huge = many(2, { text: 'y'.repeat(40_000) });

    expect(queueable(long).map((piece) => piece.length)).to.deep.equal([3, 2]);
    expect(queueable(huge).map((piece) => piece.length)).to.deep.equal([1, 1]);
    expect(queueable([]).length).to.equal(0);
  });

  it('a document is of one account, path, lane, template and batch', () => {
    const kinds: readonly Partial<MessageDocument>[] = [
      {},
      { account: newId('acc') },
      { path: '@30:airtel>jio' },
      { lane: 2 },
      { template: '1107160000000000001' },
      { batch: newId('bat') },
    ];
    const messages = [...kinds, ...kinds].flatMap((kind) => many(1, kind));

    const pieces = queueable(messages);

    expect(ids(pieces)).to.deep.equal(kinds.map((_, i) => [messages[i]?._id, messages[i + kinds.length]?._id]));
  });
});

describe('a queue document', () => {
  it('says of its lines what is asked of it: how many, the least and greatest id, the latest validity', () => {
    const account = newId('acc');
    const [low, middle, high] = [newId('msg'), newId('msg'), newId('msg')];
    const until = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);
    const messages = [
      makeMessage({ account, _id: middle, validUntil: until(1) }),
      makeMessage({ account, _id: high, validUntil: until(3) }),
      makeMessage({ account, _id: low, validUntil: until(2) }),
    ];

    const document = queueDocument(queueId(newId('msg'), 0), messages, NOW);

    expect(document).to.deep.include({
      n: 3,
      next: 0,
      open: true,
      claims: [],
      first: low,
      last: high,
      until: until(3),
    });
    expect(document).to.deep.include({ account, path: 'transactional', lane: 1 });
    expect(document.writeAt?.getTime()).to.equal(NOW.getTime() + WRITE_OUT_MS);
    expect(document).not.to.have.any.keys('template', 'batch', 'written');
  });

  it('of messages that are stored has only their ids and segments, and nothing to write out', () => {
    const messages = [makeMessage({ segments: 3 }), makeMessage()];

    const document = writtenDocument(queueId(newId('msg'), 0), messages);

    expect(document).to.include({ written: true, open: true });
    expect(document).not.to.have.property('writeAt');
    expect(unpackLines(document.lines)).to.deep.equal(messages.map(({ _id, segments }) => ({ _id, segments })));
  });
});
