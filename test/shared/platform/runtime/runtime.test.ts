import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isoTimestamp } from '../../../../shared/platform/runtime/clock.ts';
import { Grouper } from '../../../../shared/platform/runtime/grouper.ts';
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
import { createSecretBox } from '../../../../shared/platform/runtime/secret-box.ts';
import { loadSecretKeys } from '../../../../shared/platform/runtime/secret-keys.ts';

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
