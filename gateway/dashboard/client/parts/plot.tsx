import 'uplot/dist/uPlot.min.css';
import { useEffect, useId, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { Table } from './list.tsx';
import { exactTime, number, utcDay } from './value.tsx';

export type PlotTone = 'accent' | 'good' | 'warn' | 'bad' | 'soft';

interface PlotProps {
  readonly title: string;
  /** The chart in words: "Peak 36 at 19:00". */
  readonly summary: string;
  /** ISO 8601, evenly spaced. */
  readonly times: readonly string[];
  /** The times are starts of days in UTC. */
  readonly days: boolean;
  /** Head of the table's column of days. */
  readonly dayHead?: string;
  readonly series: readonly {
    readonly name: string;
    readonly tone: PlotTone;
    readonly values: readonly (number | null)[];
  }[];
}

const HEIGHT = 240;
/** At most one label for each day. */
const DAY_STEPS = [1, 2, 5, 7, 10, 14, 30].map((days) => days * 86_400);
const HOUR = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const DAY_PARTS = { day: 'numeric', month: 'short' } as const;
const DAY = new Intl.DateTimeFormat('en-GB', DAY_PARTS);
const UTC_DAY = new Intl.DateTimeFormat('en-GB', { ...DAY_PARTS, timeZone: 'UTC' });

/** A line chart. Screen readers cannot read a canvas, so it comes with a sentence and a table of the same numbers. */
export function Plot({ title, summary, times, days, dayHead = 'Day (UTC)', series }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const draw = () => drawPlot(element, { times, days, series });
    let plot = draw();
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    // A canvas keeps its colours: redraw when the theme changes.
    const redraw = () => {
      plot.destroy();
      plot = draw();
    };
    const themed = new MutationObserver(redraw);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [times, days, series]);
  return (
    <figure class="plot" aria-labelledby={heading}>
      <figcaption id={heading}>
        <strong>{title}</strong> <span class="soft">{summary}</span>
      </figcaption>
      <ul class="legend">
        {series.map(({ name, tone }) => (
          <li key={name} class={tone}>
            {name}
          </li>
        ))}
      </ul>
      <div ref={box} class="plot-box" aria-hidden="true" />
      <details>
        <summary>As a table</summary>
        <Table
          caption={title}
          compared
          rows={times.map((_, at) => at)}
          rowKey={String}
          columns={[
            { head: days ? dayHead : 'Time', cell: (at) => (days ? utcDay : exactTime)(times[at] ?? '') },
            ...series.map(({ name, values }) => ({
              head: name,
              kind: 'number' as const,
              cell: (at: number) => (values[at] == null ? '–' : number(values[at])),
            })),
          ]}
        />
      </details>
    </figure>
  );
}

function drawPlot(box: HTMLElement, { times, days, series }: Pick<PlotProps, 'times' | 'days' | 'series'>): uPlot {
  const grid = { stroke: colour(box, '--line'), width: 1 };
  const axis = { stroke: colour(box, '--soft'), font: '12px system-ui', grid, ticks: { show: false } };
  return new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
      ...(days && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC') }),
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * 1.1, 4)] } },
      axes: [
        {
          ...axis,
          ...(days && { incrs: DAY_STEPS }),
          values: (_plot, seconds) => seconds.map((one) => timeLabel(one, days)),
        },
        { ...axis, size: 56, values: (_plot, values) => values.map(number) },
      ],
      series: [
        {},
        ...series.map(({ name, tone }) => ({
          label: name,
          stroke: colour(box, `--${tone}`),
          width: 1.5,
          points: { show: false },
        })),
      ],
    },
    [times.map((time) => new Date(time).getTime() / 1_000), ...series.map(({ values }) => [...values])],
    box,
  );
}

/** "14:00", and the date at the start of a day. */
function timeLabel(seconds: number, days: boolean): string {
  const date = new Date(seconds * 1_000);
  if (days) return UTC_DAY.format(date);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  return (isMidnight ? DAY : HOUR).format(date);
}

/** A token's current colour: a canvas knows no custom properties. */
function colour(box: HTMLElement, token: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${token})`;
  box.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
