import type { Batch } from './batch.ts';

/** How much of a batch has left, as a bar and in words. */
export function Progress({ batch: { batch_id: id, progress } }: { readonly batch: Batch }) {
  if (progress === undefined) return <span class="soft">open it to count</span>;
  const percent = Math.floor(progress * 100);
  return (
    <span class="progress">
      <progress max={100} value={percent} aria-label={`Progress of ${id}`} /> {percent} %
    </span>
  );
}
