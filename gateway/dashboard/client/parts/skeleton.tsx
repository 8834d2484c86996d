import { useEffect, useState } from 'preact/hooks';

const AFTER_MS = 200;

/** Grey lines while something loads. They appear after a moment: most answers come sooner. */
export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <i key={line} />
      ))}
    </div>
  );
}
