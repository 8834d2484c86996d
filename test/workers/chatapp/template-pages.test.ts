import type { Exchange } from '../../../shared/carriers/http/client.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { readTemplates } from '../../../workers/chatapp/template-pages.ts';
import { ownerOf } from '../../support/chatapp.ts';

const account = newId('acc');

function template(name: string, more: object = {}): object {
  return { name, language: 'en', status: 'APPROVED', category: 'UTILITY', ...more };
}

function answered(body: object | string, status = 200): Exchange {
  return { kind: 'answered', status, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}

function page(number: number, entries: readonly unknown[]): Exchange {
  return answered({ data: entries, paging: { next: 'https://x', cursors: { after: String(number + 1) } } });
}

/** Reads the templates; `answer` gives one page after the other. */
function read(answer: (page: number) => Exchange) {
  return readTemplates({ owner: ownerOf(account), clock, ask: (after) => Promise.resolve(answer(Number(after ?? 0))) });
}

describe('readTemplates', () => {
  it('brings all pages together; the later word counts', async () => {
    const list = await read((n) =>
      n < 3 ? page(n, [template(`n${n}`), template('same', { status: `S${n}` })]) : answered({ data: [] }),
    );

    if (typeof list === 'string') throw new Error(list);
    expect(list.templates.map(({ name, status }) => `${name} ${status}`)).to.deep.equal([
      'n0 approved',
      'same s2',
      'n1 approved',
      'n2 approved',
    ]);
  });

  it('an entry that cannot be read is left out and told, the others are kept', async () => {
    const body = (text: string) => ({ components: [{ type: 'BODY', text }] });
    const list = await read(() =>
      answered({ data: [template('a'), template('long', body('{{1}}'.repeat(10_000))), null, template('b')] }),
    );

    if (typeof list === 'string') throw new Error(list);
    expect(list.templates.map(({ name }) => name)).to.deep.equal(['a', 'b']);
    expect(list).to.deep.include({ skipped: 2, firstSkipped: { name: 'long', problem: 'a text of it is too long' } });
  });

  it('texts without end are given up, and the list stays as it is', async () => {
    const text = 'x'.repeat(16_000);
    const entries = Array.from({ length: 60 }, (_, i) => template(`n${i}`, { components: [{ type: 'BODY', text }] }));
    const { body } = page(0, entries) as { readonly body: Buffer };
    const one = { kind: 'answered', status: 200, body } as const;

    expect(await read(() => one)).to.equal('more than 67108864 bytes of templates');
  });

  it('a page of hundreds of kilobytes is read', async () => {
    const text = 'नमस्ते '.repeat(100);
    const entries = Array.from({ length: 200 }, (_, i) => template(`n${i}`, { components: [{ type: 'BODY', text }] }));

    const list = await read(() => answered({ data: entries }));

    expect(list).to.have.property('templates').that.has.length(200);
  });

  it('while a large page is read, others have their turn', async () => {
    const entries = Array.from({ length: 9_000 }, (_, i) => template(`n${i}`));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);

    await read(() => answered({ data: entries }));
    clearImmediate(counting);

    expect(turns).to.be.at.least(400);
  });

  for (const [what, answer, reason] of [
    [
      'of more templates than any account has',
      () => answered({ data: Array(10_001).fill({}) }),
      'more than 10000 templates',
    ],
    [
      'of as many on several pages',
      (n: number) => page(n, Array(2_000).fill(template(`n${n}`))),
      'more than 10000 templates',
    ],
    ['without an end', (n: number) => page(n, []), 'more than 250 pages'],
    [
      'that is refused',
      () => answered({ error: { code: 190 } }, 401),
      'the access token is refused (HTTP 401, code 190)',
    ],
    ['that is no JSON', () => answered('<html>'), 'the answer is no JSON'],
    ['that is something else', () => answered({ items: [] }), 'the answer is no list of templates'],
    [
      'that is nested without an end',
      () => answered(`{"data":${'['.repeat(100_000)}`),
      'the answer cannot be read: it may be nested at most 64 levels deep',
    ],
    [
      'that never came',
      (): Exchange => ({ kind: 'no_answer', code: 'timeout' }),
      'no whole answer from the provider (timeout)',
    ],
  ] as const) {
    it(`a list ${what} cannot be had: ${reason}`, async () => {
      expect(await read(answer)).to.equal(reason);
    });
  }
});
