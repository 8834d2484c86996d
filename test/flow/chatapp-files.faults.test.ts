import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Provider } from '../../scripts/simulator/provider.ts';
import { eventually } from '../support/eventually.ts';
import { useProduct } from '../support/product.ts';

const SETTLED_MS = 120_000;
/** The maximum for customers. */
const LARGEST = 104_857_600;

describe('files of customers, through real processes', function () {
  this.timeout(SETTLED_MS * 2);
  const product = useProduct({ chatapp: {} });
  let provider: Provider;
  before(async () => {
    assert(product.provider !== undefined, 'it was asked for');
    provider = product.provider;
  });

  it('small and as large as may be: the API hands them on whole, and no gateway grows with them', async () => {
    const sizes = () =>
      product.pids('gateway').map((pid) => {
        const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
        return Number(kilobytes) * 1_024;
      });
    const handOn = async (content: Buffer | number, type: string, mime: string): Promise<void> => {
      const earlier = product.receiver.received().length;
      provider.sendsFile('919876543220', { content, type, mime });
      const told = await eventually(
        () =>
          product.receiver
            .received()
            .slice(earlier)
            .find(({ json }) => json.type === type),
        'what the customer sent',
        SETTLED_MS,
      );
      assert(told !== undefined, 'it was waited for');
      const answer = await fetch(`${product.url}/v2/chatapp/media/${told.json.message_id}`, {
        headers: { authorization: `Bearer ${product.key}` },
      });
      const sha256 = createHash('sha256');
      for await (const piece of answer.body ?? []) sha256.update(piece);

      expect([answer.status, answer.headers.get('content-type')]).deep.equal([200, mime]);
      expect(Object(told.json[type]).sha256).equal(sha256.digest('base64'));
    };

    await handOn(Buffer.from('ffd8ffe0004a', 'hex'), 'image', 'image/jpeg');
    // The first large files fill buffers and each process's young heap.
    for (let i = 0; i < 4; i++) await handOn(LARGEST, 'document', 'application/pdf');
    const before = sizes();
    for (let i = 0; i < 4; i++) await handOn(LARGEST, 'document', 'application/pdf');
    for (const [i, size] of sizes().entries()) expect(size - (before[i] ?? 0)).below(LARGEST / 2);
  });
});
