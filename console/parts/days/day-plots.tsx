// Tokens and dollars by day, drawn. The table beside them has the same figures for those who do not see them.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { UsageLine } from '../../../contracts/gateway/api';
import { problemOf, type ProblemText } from '../../api/call-api';
import { daysOf, type DaySeries } from './days';
import { money, ProblemNote } from '../notes';

export function DayPlots({ byDay }: { byDay: UsageLine[] }): VNode {
  const series = daysOf(byDay);
  return (
    <div class="plots">
      <DayPlot label="Tokens" {...series} values={series.tokens} format={short} />
      {series.dollars.some((value) => value !== null && value > 0) && (
        <DayPlot label="Dollars" {...series} values={series.dollars} format={money} />
      )}
    </div>
  );
}

interface DayPlotProps extends Pick<DaySeries, 'days'> {
  label: string;
  values: (number | null)[];
  format: (value: number) => string;
}

const short = (count: number): string => count.toLocaleString('en', { notation: 'compact' });

function DayPlot({ label, days, values, format }: DayPlotProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const isDark = useSignal(DARK.matches);
  const problem = useSignal<ProblemText | null>(null);
  const drawn = JSON.stringify([days, values]);
  useEffect(() => {
    const change = (): void => void (isDark.value = DARK.matches);
    DARK.addEventListener('change', change);
    return () => DARK.removeEventListener('change', change);
  }, []);
  useEffect(() => {
    let isGone = false;
    let remove: (() => void) | undefined;
    void import('./draw-days').then(
      ({ drawDays }) => {
        if (!isGone && place.current) remove = drawDays(place.current, { days, values, label, format });
      },
      (err: unknown) => (problem.value = problemOf(err)),
    );
    return () => {
      isGone = true;
      remove?.();
    };
  }, [drawn, isDark.value]);
  return (
    <figure>
      <figcaption>{label} by day (UTC)</figcaption>
      <div class="plot" ref={place} aria-hidden="true" />
      <ProblemNote problem={problem.value} />
    </figure>
  );
}

const DARK = matchMedia('(prefers-color-scheme: dark)');
