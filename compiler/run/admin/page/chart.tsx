import { useEffect, useId, useRef, useState } from "preact/hooks";
import { minute } from "./format.ts";

/** A line, or a layer of a stack. */
export interface ChartSeries {
  readonly name: string;
  /** Number of the color in the style sheet, or a meaning. */
  readonly color: "one" | "two" | "three" | "good" | "warn" | "bad";
  /** `null` where there is no value. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Begin of each interval, in milliseconds since the epoch. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly isStacked?: boolean;
  /** Whether intervals are shown as bars, as suits few of them. */
  readonly isBars?: boolean;
  readonly format: (value: number) => string;
  /** Height of the drawing in pixels. */
  readonly height?: number;
  readonly timeText?: (at: number) => string;
}

/** Minimum width of the labels of values, and the width of their characters. */
const MIN_LEFT = 52;
const CHARACTER = 7;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 22;

/** A chart over time. Arrow keys move the reading; the values are read aloud. */
export function TimeChart({
  title,
  times,
  series,
  isStacked = false,
  isBars = false,
  format,
  height = 168,
  timeText = minute,
}: ChartProps) {
  const [width, ref] = useWidth(520);
  const [at, setAt] = useState<number>();
  const id = useId();
  const shown = at === undefined || at >= times.length ? undefined : at;
  const tops = isStacked ? stacked(series) : series.map(({ values }) => values);
  const top = niceTop(Math.max(0, ...tops.flat().map((value) => value ?? 0)));
  const marks = [0, 0.5, 1].map((share) => ({ value: share * top, text: format(share * top) }));
  const left = Math.max(
    MIN_LEFT,
    14 + CHARACTER * Math.max(...marks.map(({ text }) => text.length)),
  );
  // Bars have a margin of half their width.
  const margin = isBars ? (width - left - RIGHT) / (2 * Math.max(1, times.length)) : 0;
  const x = (index: number) =>
    left + margin + ((width - left - RIGHT - 2 * margin) * index) / Math.max(1, times.length - 1);
  const y = (value: number) => TOP + (height - TOP - BOTTOM) * (1 - value / top);
  const indexAt = (position: number) =>
    Math.max(
      0,
      Math.min(
        times.length - 1,
        Math.round(((position - left) / (width - left - RIGHT)) * (times.length - 1)),
      ),
    );
  const last = times.length - 1;
  const move = (event: KeyboardEvent) => {
    const from = shown ?? last;
    const moved = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") setAt(undefined);
    if (moved === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(last, moved)));
  };
  const labels = labelTimes(times, width);
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title" id={id}>
          {title}
        </span>
        <span class="legend">
          {series.map(({ name, color, values }) => (
            <span key={name} class="legend-item">
              <span class={`swatch ${color}`} aria-hidden="true" />
              {name}
              <b>{readingOf(values, shown, format)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/useSemanticElements: a chart is no set of fields. */}
      <div
        ref={ref}
        class="chart-area"
        role="group"
        aria-labelledby={id}
        aria-roledescription="chart; arrow keys read its values"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move the reading.
        tabIndex={0}
        onKeyDown={move}
        onPointerMove={(event) => {
          setAt(indexAt(event.clientX - event.currentTarget.getBoundingClientRect().left));
        }}
        onPointerLeave={() => setAt(undefined)}
        onBlur={() => setAt(undefined)}
      >
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          {marks.map(({ value, text }) => (
            <g key={value}>
              <line class="grid" x1={left} x2={width - RIGHT} y1={y(value)} y2={y(value)} />
              <text class="axis" x={left - 8} y={y(value) + 4} text-anchor="end">
                {text}
              </text>
            </g>
          ))}
          {labels.map((index) => (
            <text
              key={index}
              class="axis"
              x={x(index)}
              y={height - 5}
              text-anchor={index === 0 ? "start" : index === last ? "end" : "middle"}
            >
              {timeText(times[index] ?? 0)}
            </text>
          ))}
          {isStacked
            ? series.map(({ name, color }, layer) => (
                <path
                  key={name}
                  class={`layer ${color}`}
                  d={
                    isBars
                      ? barsPath(tops[layer] ?? [], tops[layer - 1], x, y)
                      : areaPath(tops[layer] ?? [], tops[layer - 1], x, y)
                  }
                />
              ))
            : series.map(({ name, color, values }) => (
                <path key={name} class={`line ${color}`} d={linePath(values, x, y)} />
              ))}
          {shown !== undefined && (
            <g>
              <line class="cursor" x1={x(shown)} x2={x(shown)} y1={TOP} y2={height - BOTTOM} />
              {tops.map((values, layer) => {
                const value = values[shown];
                return value === null || value === undefined || value === 0 ? null : (
                  <circle
                    key={series[layer]?.name}
                    class={`point ${series[layer]?.color}`}
                    cx={x(shown)}
                    cy={y(value)}
                    r={3.5}
                  />
                );
              })}
            </g>
          )}
        </svg>
        {shown !== undefined && (
          <span
            class="reading"
            style={{ left: `${Math.max(46, Math.min(width - 46, x(shown)))}px` }}
          >
            {timeText(times[shown] ?? 0)}
          </span>
        )}
        <span class="hidden" role="status">
          {shown !== undefined &&
            `${timeText(times[shown] ?? 0)}: ${series.map(({ name, values }) => `${name} ${readingOf(values, shown, format)}`).join(", ")}`}
        </span>
      </div>
    </figure>
  );
}

function readingOf(
  values: readonly (number | null)[],
  at: number | undefined,
  format: (value: number) => string,
): string {
  const value = at === undefined ? undefined : values[at];
  if (at !== undefined) return value === null || value === undefined ? "–" : format(value);
  return "";
}

/** Returns the sums of each layer and those below it. */
function stacked(series: readonly ChartSeries[]): readonly (readonly number[])[] {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return sums;
}

type Scale = (value: number) => number;

function linePath(values: readonly (number | null)[], x: Scale, y: Scale): string {
  let path = "";
  let isOpen = false;
  for (const [index, value] of values.entries()) {
    if (value === null) {
      isOpen = false;
      continue;
    }
    const point = `${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    // A value between gaps is a dot: a ring that its line fills.
    const isAlone = !isOpen && (values[index + 1] ?? null) === null;
    path += isOpen
      ? `L${point}`
      : `M${point}${isAlone ? "m-1 0a1 1 0 1 0 2 0a1 1 0 1 0 -2 0" : ""}`;
    isOpen = true;
  }
  return path;
}

function areaPath(
  tops: readonly (number | null)[],
  below: readonly (number | null)[] | undefined,
  x: Scale,
  y: Scale,
): string {
  const point = (values: readonly (number | null)[] | undefined, index: number) =>
    `${x(index).toFixed(1)} ${y(values?.[index] ?? 0).toFixed(1)}`;
  const forth = tops.map((_, index) => `${index === 0 ? "M" : "L"}${point(tops, index)}`);
  const back = tops.map((_, index) => `L${point(below, tops.length - 1 - index)}`);
  return `${forth.join("")}${back.join("")}Z`;
}

function barsPath(
  tops: readonly (number | null)[],
  below: readonly (number | null)[] | undefined,
  x: Scale,
  y: Scale,
): string {
  const width = Math.max(1, 0.7 * (x(1) - x(0)));
  return tops
    .map((value, index) => {
      const [top, bottom] = [y(value ?? 0), y(below?.[index] ?? 0)];
      const left = x(index) - width / 2;
      return top === bottom ? "" : `M${left} ${bottom}V${top}h${width}V${bottom}Z`;
    })
    .join("");
}

/** Returns the smallest of 1, 2, 2.5, 5 times a power of ten that is not below. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= value) ?? value;
}

/** Returns the indexes of times that are written, as many as there is room for. */
function labelTimes(times: readonly number[], width: number): readonly number[] {
  const number = Math.max(2, Math.min(5, Math.floor(width / 110)));
  if (times.length < 2) return times.length === 1 ? [0] : [];
  return Array.from({ length: number }, (_, index) =>
    Math.round((index * (times.length - 1)) / (number - 1)),
  );
}

/** Follows the width of an element. */
function useWidth(first: number) {
  const [width, setWidth] = useState(first);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.max(160, Math.floor(entry.contentRect.width)));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, ref] as const;
}

/** A small chart without axes. */
export function Spark({ values, tone = "one" }: { values: readonly number[]; tone?: string }) {
  const top = Math.max(1, ...values);
  const [width, height] = [84, 22];
  const points = values.map(
    (value, index) =>
      `${((width * index) / Math.max(1, values.length - 1)).toFixed(1)} ${(height - 1 - ((height - 3) * value) / top).toFixed(1)}`,
  );
  return (
    <svg class="spark" width={width} height={height} aria-hidden="true">
      <path class={`layer ${tone}`} d={`M0 ${height}L${points.join("L")}L${width} ${height}Z`} />
      <path class={`line ${tone}`} d={`M${points.join("L")}`} />
    </svg>
  );
}

/** Horizontal bars, one for each name. */
export function Bars({
  rows,
  format,
}: {
  rows: readonly { readonly name: string; readonly value: number }[];
  format: (value: number) => string;
}) {
  const top = Math.max(0, ...rows.map(({ value }) => value)) || 1;
  return (
    <ul class="bars">
      {rows.map(({ name, value }) => (
        <li key={name}>
          <span class="bar-name">{name}</span>
          <span class="bar-value">{format(value)}</span>
          <span class="bar-track" aria-hidden="true">
            <span class="bar" style={{ width: `${Math.max(1, (100 * value) / top)}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}
