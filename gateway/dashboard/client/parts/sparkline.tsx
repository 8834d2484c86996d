interface SparklineProps {
  /** What it shows, in words: "Messages an hour, 120 at most". */
  readonly label: string;
  readonly values: readonly number[];
}

const WIDTH = 120;
const HEIGHT = 28;

/** A small line without axes, beside the number that it belongs to. */
export function Sparkline({ label, values }: SparklineProps) {
  const most = Math.max(...values, 1);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
      <polyline points={points.join(' ')} />
    </svg>
  );
}
