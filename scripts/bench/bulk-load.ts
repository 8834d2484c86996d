import { type LoadResult, nextDestination } from './load.ts';
import { machineMs } from './machine-time.ts';
import { type ProductTarget, SENDER, TEXT } from './target.ts';

/** Sends `batches` bulk requests of `size` recipients each, one after the other; each uses the next key. */
export async function bulkLoad(target: ProductTarget, batches: number, size: number): Promise<LoadResult> {
  const answerMs: number[] = [];
  const refused: Record<string, number> = {};
  const sentAt = new Map<string, number>();
  const acceptedAt = new Map<string, number>();
  let accepted = 0;
  let lastMs = 0;
  const firstMs = machineMs();
  for (let i = 0; i < batches; i++) {
    const to = Array.from({ length: size }, nextDestination);
    const body = JSON.stringify({ to, message: TEXT, sender: SENDER, route: target.route });
    const sentMs = machineMs();
    const answer = await fetch(`${target.url}/v2/send-bulk`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${target.keys[i % target.keys.length]}`,
        'content-type': 'application/json',
      },
      body,
    });
    await answer.arrayBuffer();
    lastMs = machineMs();
    answerMs.push(lastMs - sentMs);
    if (answer.status === 200) {
      accepted += size;
      for (const each of to) {
        sentAt.set(each, sentMs);
        acceptedAt.set(each, lastMs);
      }
    } else refused[answer.status] = (refused[answer.status] ?? 0) + 1;
  }
  return { accepted, refused, firstMs, lastMs, answerMs, sentAt, acceptedAt };
}
