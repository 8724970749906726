// Draws one figure by day as bars. Loaded when there is something to draw.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface Drawing {
  /** Beginnings of days, in seconds since 1970. */
  days: number[];
  values: (number | null)[];
  label: string;
  /** As text for people. */
  format: (value: number) => string;
}

const HEIGHT_PX = 180;
const DAY_S = 24 * 60 * 60;

/** Fills `place`, in its colours and at its width, until the function that is returned is called. */
export function drawDays(place: HTMLElement, { days, values, label, format }: Drawing): () => void {
  const { color, borderTopColor: line, outlineColor: accent } = getComputedStyle(place);
  const axis = { stroke: color, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const { bars } = uPlot.paths;
  const [first = 0] = days;
  const last = days.at(-1) ?? first;
  const plot = new uPlot(
    {
      ...{ width: place.clientWidth, height: HEIGHT_PX },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      // Half a day on both sides, so that the bars at the edges are whole.
      scales: { x: { range: [first - DAY_S, last + DAY_S] }, y: { range: (_, __, most) => [0, most || 1] } },
      axes: [
        { ...axis, incrs: [1, 2, 7, 14, 28, 91].map((count) => count * DAY_S) },
        { ...axis, size: 80, values: (_, splits) => splits.map(format) },
      ],
      series: [
        { label: 'Day (UTC)', value: '{YYYY}-{MM}-{DD}' },
        {
          label,
          fill: accent,
          stroke: accent,
          ...(bars && { paths: bars({ size: [0.6, 60] }) }),
          points: { show: false },
          value: (_, value: number | null) => (value === null ? '–' : format(value)),
        },
      ],
    },
    [days, values],
    place,
  );
  const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT_PX }));
  watch.observe(place);
  return () => {
    watch.disconnect();
    plot.destroy();
  };
}
