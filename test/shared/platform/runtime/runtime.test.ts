import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoTimestamp, parseOffsetTime } from '../../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../../shared/platform/runtime/defined.ts';
import { Grouper, WindowSeen } from '../../../../shared/platform/runtime/grouper.ts';
import {
  batchMessageIds,
  batchMessageRange,
  eventId,
  idTime,
  isBatchId,
  isMessageId,
  lowestId,
  newId,
} from '../../../../shared/platform/runtime/ids.ts';
import { StartError } from '../../../../shared/platform/runtime/lifecycle.ts';
import { clean, maskNumber, unexpectedErrorFields } from '../../../../shared/platform/runtime/log.ts';
import { openness } from '../../../../shared/platform/runtime/own-file.ts';
import { createSecretBox, loadSecretKeys } from '../../../../shared/platform/runtime/secret-box.ts';
import { within } from '../../../../shared/platform/runtime/within.ts';

describe('runtime/ids', () => {
  it('never goes back in order and never repeats', () => {
    const ids = Array.from({ length: 20_000 }, () => newId('msg'));

    expect(ids.toSorted()).to.deep.equal(ids);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids.every(isMessageId)).to.equal(true);
  });

  it("derives the ids of a batch: in the order of their index, of the batch's time, and of no other batch", () => {
    const [batch, next] = [newId('bat'), newId('bat')];
    const ids = Array.from({ length: 10_000 }, (_, i) => batchMessageIds(batch)(i));

    expect(isBatchId(batch)).to.equal(true);
    expect(ids.every(isMessageId)).to.equal(true);
    expect(ids.toSorted()).to.deep.equal(ids);
    expect(new Set(ids).size).to.equal(ids.length);
    expect(idTime(ids[0] ?? '')).to.deep.equal(idTime(batch));
    const { $gte, $lte } = batchMessageRange(batch);
    expect(ids[0]).to.equal($gte);
    expect(ids.every((id) => id <= $lte)).to.equal(true);
    const others = Array.from({ length: 10_000 }, (_, i) => batchMessageIds(next)(i));
    expect(others.some((id) => id >= $gte && id <= $lte)).to.equal(false);
  });

  it('knows the lowest id of a moment', () => {
    const at = new Date('2026-11-21T10:00:00.123Z');

    expect(idTime(lowestId('bat', at))).to.deep.equal(at);
    expect(lowestId('bat', at) < newId('bat')).to.equal(true);
  });

  it('stays in order over a clock that trembles, and follows one that is set right', () => {
    const ahead = new Date('2099-06-01T00:00:00Z').getTime();
    const first = newId('msg', ahead);

    expect(newId('msg', ahead - 59_000) > first).to.equal(true);
    expect(idTime(newId('msg', ahead - 61_000)).getTime()).to.equal(ahead - 61_000);
  });

  it('carries its time and derives event ids without a full stop (Standard Webhooks)', () => {
    const at = new Date('2099-01-02T03:04:05.678Z');
    const id = newId('msg', at.getTime());

    expect(idTime(id)).to.deep.equal(at);
    expect(eventId(id, 'sent'))
      .to.equal(`evt_${id.slice(4)}_sent`)
      .and.not.include('.');
  });

  it('takes nothing else for a message id', () => {
    for (const value of [
      '',
      'msg_',
      'msg_UPPERCASE0000000000000000',
      `${newId('msg')}x`,
      newId('grp'),
      'msg_../../etc/passwd',
    ]) {
      expect(isMessageId(value), value).to.equal(false);
    }
  });
});

describe('runtime/log', () => {
  it('masks phone numbers wherever they stand and hides text and secrets by name', () => {
    const shown = clean({
      to: '919876543210',
      error: 'no route to +919876543210, code 12',
      text: 'secret',
      id: newId('msg'),
    });

    expect(shown.to).to.equal('9198******10');
    expect(shown.error).to.equal('no route to +919*******10, code 12');
    expect(shown.text).to.equal('[hidden]');
    expect(shown.id).to.match(/^msg_[0-9a-z]{26}$/);
    expect(maskNumber('12345')).to.equal('12345');
  });

  it('says where an error was thrown that nobody expected, and quotes nothing of its message twice', () => {
    const thrownBy = (act: () => unknown): unknown => {
      try {
        return act();
      } catch (error) {
        return error;
      }
    };
    const ofOurs = unexpectedErrorFields(thrownBy(() => maskNumber(undefined as never)));
    expect(ofOurs.error_name).to.equal('TypeError');
    expect(ofOurs.thrown_at).to.match(/^(Proxy\.)?maskNumber shared\/platform\/runtime\/log\.ts:\d+ < /);

    const quoting = unexpectedErrorFields(new Error('first\n    at someone (of a document)\nlast'));
    expect(quoting.thrown_at).to.not.match(/someone|document|first|last/);
    expect(unexpectedErrorFields('no error')).to.deep.equal({ error: 'no error', thrown_at: undefined });
  });
});

describe('runtime/clock', () => {
  it('writes timestamps in the shape of the specification', () => {
    expect(isoTimestamp(new Date('2026-11-21T10:00:00.999Z'))).to.equal('2026-11-21T10:00:00+00:00');
  });
});

describe('runtime/grouper', () => {
  it('sends what arrives while a group is in flight together in the next one', async () => {
    const groups: number[][] = [];
    let release = (): void => {};
    const grouper = new Grouper<number, number>({
      maxItems: 3,
      gatherMs: 0,
      run: async (items) => {
        groups.push([...items]);
        if (groups.length === 1) await new Promise<void>((resolve) => (release = resolve));
        return items.map((item) => item * 10);
      },
    });

    const first = grouper.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    const others = [2, 3, 4, 5].map((item) => grouper.add(item));
    release();

    expect(await Promise.all([first, ...others])).to.deep.equal([10, 20, 30, 40, 50]);
    expect(groups).to.deep.equal([[1], [2, 3, 4], [5]]);
    expect(grouper.idle).to.equal(true);
  });

  it('rejects the items of a failed group and goes on with the next', async () => {
    let calls = 0;
    const grouper = new Grouper<number, number>({
      maxItems: 1,
      gatherMs: 0,
      run: async (items) => {
        if (calls++ === 0) throw new Error('first');
        return items;
      },
    });

    const results = await Promise.allSettled([grouper.add(1), grouper.add(2)]);

    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled']);
  });
});

describe('runtime/secret-box', () => {
  const PLACE = ['carriers', 'acme', 'password'] as const;
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'harkara-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('makes the key file at the first start, for the owner alone, and reads the same key again', () => {
    const key = loadSecretKeys('', directory)();

    expect(loadSecretKeys('', directory)()).to.deep.equal(key);
    expect(statSync(join(directory, 'secret.key')).mode & 0o777).to.equal(0o600);
  });

  it('takes a key file that a copy left open to others, and closes it', () => {
    const key = loadSecretKeys('', directory)();
    chmodSync(join(directory, 'secret.key'), 0o644);

    expect(loadSecretKeys('', directory)()).to.deep.equal(key);
    expect(statSync(join(directory, 'secret.key')).mode & 0o777).to.equal(0o600);
  });

  it('opens what it sealed, and nothing that was altered or sealed with another key', () => {
    const box = createSecretBox(loadSecretKeys('', directory));
    const sealed = box.seal('pässword', PLACE);

    expect(box.open(sealed, PLACE)).to.equal('pässword');
    expect(sealed).to.not.include('pässword');
    expect(() => box.open(`${sealed.slice(0, -2)}AA`, PLACE)).to.throw();
    expect(() => createSecretBox(loadSecretKeys('ab'.repeat(32), directory)).open(sealed, PLACE))
      .to.throw(StartError)
      .with.property('message')
      .that.includes('sealed with another key');
  });

  it('opens a value only where it was sealed for: collection, document and field', () => {
    const box = createSecretBox(loadSecretKeys('', directory));
    const sealed = box.seal('pässword', PLACE);

    for (const place of [
      ['carriers', 'other', 'password'],
      ['carriers', 'acme', 'trust.tlsKey'],
      ['providers', 'acme', 'token'],
    ] as const) {
      expect(() => box.open(sealed, place))
        .to.throw(StartError)
        .with.property('message')
        .that.includes(`${place[2]} of ${place[1]} (${place[0]}) was altered, or sealed for another document`);
    }
  });

  it('seals with the first of several keys, which the text names, and opens with all', () => {
    const [first, second] = ['ab'.repeat(32), 'cd'.repeat(32)];
    const old = createSecretBox(loadSecretKeys(second, directory));
    const both = createSecretBox(loadSecretKeys(`${first},${second}`, directory));
    const sealed = old.seal('word', PLACE);

    expect(both.open(sealed, PLACE)).to.equal('word');
    const fresh = both.seal('word', PLACE);
    expect(createSecretBox(loadSecretKeys(first, directory)).open(fresh, PLACE)).to.equal('word');
    const id = fresh.split('.')[1];
    expect(id)
      .to.match(/^[0-9a-f]{8}$/)
      .and.not.equal(sealed.split('.')[1]);
    expect(() => old.open(fresh, PLACE)).to.throw(`sealed with another key (id ${id}`);
    expect(() => loadSecretKeys(`${first},`, directory)).to.throw('64 hexadecimal digits');
  });

  it('says in one sentence that a data directory cannot be used', () => {
    const file = join(directory, 'a-file');
    writeFileSync(file, '');

    for (const dir of [file, join(file, 'below')]) {
      expect(() => loadSecretKeys('', dir))
        .to.throw(StartError)
        .with.property('message')
        .that.includes(dir)
        .and.includes('HARKARA_DATA_DIR');
    }
  });

  it('says what a key must look like', () => {
    expect(() => loadSecretKeys('short', directory)).to.throw('HARKARA_SECRET_KEY must hold 64 hexadecimal digits');
  });
});

describe('defined', () => {
  it('leaves out what is undefined, and nothing else', () => {
    const given: { readonly a?: string | undefined; readonly b: number; readonly c: null } = {
      a: undefined,
      b: 0,
      c: null,
    };

    expect(defined(given)).to.have.all.keys('b', 'c').and.to.deep.equal({ b: 0, c: null });
    expect(defined({ ...given, a: '' })).to.deep.equal({ a: '', b: 0, c: null });
  });
});

describe('a file with a secret', () => {
  const rows: readonly [why: string, uid: number, mode: number, user: number, fault: RegExp | undefined][] = [
    ['of this user alone', 1000, 0o600, 1000, undefined],
    ['that this user may only read', 1000, 0o400, 1000, undefined],
    ['as `cp` makes it', 1000, 0o644, 1000, /^f holds a secret .*\(mode 0644\): chmod 600 f$/],
    ['that the group may read', 1000, 0o640, 1000, /chmod 600 f$/],
    ['that others may change', 1000, 0o602, 1000, /chmod 600 f$/],
    ['of another user', 1001, 0o600, 1000, /belongs to another user \(uid 1001, this is 1000\): chown 1000 f$/],
    ["of root's, for the group of a service", 0, 0o640, 1000, undefined],
    ["of root's, that the group may change", 0, 0o660, 1000, /chmod 600 f$/],
    ["of root's, for all", 0, 0o644, 1000, /chmod 600 f$/],
    ['of a user, read by root', 1000, 0o600, 0, undefined],
    ["of root's, read by root", 0, 0o640, 0, /chmod 600 f$/],
  ];
  for (const [why, uid, mode, user, fault] of rows) {
    it(`${fault === undefined ? 'is read' : 'is refused'}: ${why}`, () => {
      const found = openness('f', { uid, mode: 0o100000 | mode }, user);

      if (fault === undefined) expect(found).to.equal(undefined);
      else expect(found).to.match(fault);
    });
  }
});

describe('within', () => {
  it('gives what the work gives', async () => {
    // A timer left behind would keep the test run alive.
    expect(await within(60_000, Promise.resolve(1))).to.equal(1);
  });

  it('gives undefined when the time is over, and takes what the work throws later', async () => {
    let fail: (error: Error) => void = () => {};
    const work = new Promise<number>((_, reject) => {
      fail = reject;
    });

    expect(await within(1, work)).to.equal(undefined);
    // An unhandled rejection would end the run.
    fail(new Error('too late'));
  });

  it('rejects with what the work rejects with', async () => {
    const error = await within(60_000, Promise.reject(new Error('away'))).catch((reason: unknown) => reason);

    expect(error).to.be.an('error').with.property('message', 'away');
  });
});

describe('WindowSeen', () => {
  it('is the most that was without a result at once', () => {
    const window = new WindowSeen();
    const before = window.most;

    for (const count of [1, 7, 3]) window.note(count, 0);

    expect([before, window.most]).to.deep.equal([0, 7]);
  });

  it('forgets a larger window after 5 to 10 seconds in which less came', () => {
    const window = new WindowSeen();
    window.note(100, 0);

    window.note(10, 5_000);
    const soon = window.most;
    window.note(10, 9_999);
    const stillSoon = window.most;
    window.note(10, 10_000);

    expect([soon, stillSoon, window.most]).to.deep.equal([100, 100, 10]);
  });

  it('remembers the window over a time in which nothing came', () => {
    const window = new WindowSeen();
    window.note(100, 0);

    window.note(1, 3_600_000);

    expect(window.most).to.equal(100);
  });
});

describe('a time with its offset', () => {
  for (const [text, utc, offsetMinutes] of [
    ['2026-11-21T10:00:00+05:30', '2026-11-21T04:30:00.000Z', 330],
    ['2026-11-21T10:00:00-03:00', '2026-11-21T13:00:00.000Z', -180],
    ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00.000Z', 0],
    ['2026-11-21T10:00:00.125+00:00', '2026-11-21T10:00:00.125Z', 0],
    ['2026-11-21T10:00:00.1239999Z', '2026-11-21T10:00:00.123Z', 0],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z', -60],
    ['2028-02-29T00:00:00+14:00', '2028-02-28T10:00:00.000Z', 840],
  ] as const) {
    it(`is read: ${text}`, () => {
      expect(parseOffsetTime(text)).to.deep.equal({ at: new Date(utc), offsetMinutes });
    });
  }

  for (const text of [
    '',
    'tomorrow',
    '1795000000',
    '2026-11-21',
    '2026-11-21T10:00:00',
    '2026-11-21T10:00+05:30',
    '2026-11-21 10:00:00+05:30',
    '2026-11-21T10:00:00+0530',
    '2026-11-21T10:00:00+05',
    '2026-11-21T10:00:00 +05:30',
    '2026-11-21t10:00:00z',
    '2026-02-29T10:00:00Z',
    '2026-02-30T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-00-10T10:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T10:60:00Z',
    '2026-11-21T10:00:61Z',
    '2026-11-21T10:00:00+24:00',
    '2026-11-21T10:00:00+05:60',
    '2026-11-21T10:00:00Z\n',
    '+002026-11-21T10:00:00Z',
  ]) {
    it(`is refused: ${JSON.stringify(text)}`, () => {
      expect(parseOffsetTime(text)).to.equal(undefined);
    });
  }
});
