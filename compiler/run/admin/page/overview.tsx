import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { FigureReport, FigureRow, GatewayData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { type ChartSeries, Spark, TimeChart } from "./chart.tsx";
import { useData } from "./data.ts";
import { type Column, DataTable } from "./data-table.tsx";
import { age, amount, count, decimal, dollars, duration, percent } from "./format.ts";
import { Certificates, Health, LastReload, Mistakes } from "./overview-health.tsx";
import { Card, Empty, Loading, PageHead, Segmented, Select, Text } from "./parts.tsx";

type Range = "15m" | "1h" | "24h";
type Kind = "route" | "tool" | "model";

const RANGES: readonly (readonly [Range, string])[] = [
  ["15m", "15 min"],
  ["1h", "1 hour"],
  ["24h", "24 hours"],
];

/** The front page: figures over time, health, certificates and the last change. */
export function OverviewPage({ gateway }: PageProps) {
  const [range, setRange] = useState<Range>("15m");
  const [of, setOf] = useState("");
  const [kind = "", ...rest] = of.split(":");
  const only = of === "" ? "" : `&kind=${kind}&name=${encodeURIComponent(rest.join(":"))}`;
  const { data } = useData<FigureReport>(`figures?range=${range}${only}`, 5000);
  return (
    <>
      <PageHead
        title="Overview"
        about={
          <>
            Version {gateway.generation}, served for {age(gateway.servedSince, gateway.now)} from{" "}
            {amount(gateway.counts.modules, "module")} of generated code
          </>
        }
      >
        <Select
          isQuiet
          label="Figures of"
          value={of}
          options={seriesOptions(data, of)}
          onChange={setOf}
        />
        <Segmented label="Period" value={range} options={RANGES} onChange={setRange} />
      </PageHead>
      <Mistakes gateway={gateway} />
      {data === undefined ? (
        <Loading />
      ) : (
        <>
          <Tiles report={data} gateway={gateway} isAll={of === ""} />
          <Charts report={data} />
          <Rankings report={data} chosen={of} onChoose={setOf} />
        </>
      )}
      <div class="columns">
        <Health gateway={gateway} />
        <div class="stack">
          <Certificates gateway={gateway} />
          <LastReload gateway={gateway} />
        </div>
      </div>
    </>
  );
}

function seriesOptions(
  report: FigureReport | undefined,
  chosen: string,
): readonly (readonly [string, string])[] {
  const kinds: readonly Kind[] = ["route", "tool", "model"];
  const found = kinds.flatMap((kind) =>
    (report?.rows[kind] ?? []).map(({ name }) => [`${kind}:${name}`, `${kind} ${name}`] as const),
  );
  const isListed = chosen === "" || found.some(([value]) => value === chosen);
  const own = isListed ? [] : [[chosen, chosen.replace(":", " ")] as const];
  return [["", "All requests"], ...own, ...found];
}

/** Returns the sums of the points, which are those of the chosen series. */
function sumsOf({ points }: FigureReport) {
  const sum = (value: (point: FigureReport["points"][number]) => number) =>
    points.reduce((total, point) => total + value(point), 0);
  return {
    requests: sum(({ requests }) => requests),
    rejected: sum(({ rejected }) => rejected),
    failed: sum(({ failed }) => failed),
    tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
    cost: sum(({ cost }) => cost),
  };
}

function Tiles({
  report,
  gateway,
  isAll,
}: {
  report: FigureReport;
  gateway: GatewayData;
  isAll: boolean;
}) {
  const { requests, rejected, failed, tokens, cost } = sumsOf(report);
  const row = isAll ? report.total : undefined;
  const errors = failed === 0 ? "good" : "bad";
  return (
    <div class="tiles">
      <Tile
        label="Requests"
        value={count(requests)}
        note={`${count(gateway.counts.inFlight)} in flight`}
      />
      <Tile
        label="Errors"
        value={percent(failed, requests)}
        tone={errors}
        note={`${count(failed)} failed, ${count(rejected)} rejected`}
      />
      <Tile
        label="Latency p95"
        value={duration(row === undefined ? worst(report) : row.p95)}
        note={
          row === undefined
            ? "highest interval"
            : `p50 ${duration(row.p50)}, p99 ${duration(row.p99)}`
        }
      />
      <Tile label="Tokens" value={count(tokens)} note="input and output" />
      <Tile label="Cost" value={dollars(cost)} note="by known prices" />
    </div>
  );
}

function worst({ points }: FigureReport): number | null {
  const values = points.flatMap(({ p95 }) => p95 ?? []);
  return values.length === 0 ? null : Math.max(...values);
}

function Tile({
  label,
  value,
  note,
  tone = "plain",
}: {
  label: string;
  value: string;
  note: string;
  tone?: "plain" | "good" | "bad";
}) {
  return (
    <dl class="tile">
      <dt>{label}</dt>
      <dd class={`tile-value ${tone}`}>{value}</dd>
      <dd class="soft">{note}</dd>
    </dl>
  );
}

function Charts({ report }: { report: FigureReport }) {
  const { points, step, now } = report;
  if (points.length === 0 || sumsOf(report).requests === 0)
    return (
      <Card>
        <Empty icon="overview" title="No requests in this period">
          Charts appear with the first request. The playground can send one.
        </Empty>
      </Card>
    );
  const times = points.map(({ at }) => at);
  // The newest interval is not over yet.
  const seconds = (at: number) => Math.min(step, Math.max(step / 5, now - at)) / 1000;
  const perSecond = (value: number, { at }: FigureReport["points"][number]) => value / seconds(at);
  const series = (
    name: string,
    color: ChartSeries["color"],
    value: (point: FigureReport["points"][number]) => number | null,
  ): ChartSeries => ({ name, color, values: points.map(value) });
  const { tokens, cost } = sumsOf(report);
  return (
    <div class="columns charts">
      <Card>
        <TimeChart
          title="Requests per second"
          times={times}
          isStacked
          format={decimal}
          series={[
            series("ok", "one", (point) =>
              perSecond(point.requests - point.rejected - point.failed, point),
            ),
            series("4xx", "warn", (point) => perSecond(point.rejected, point)),
            series("5xx", "bad", (point) => perSecond(point.failed, point)),
          ]}
        />
      </Card>
      <Card>
        <TimeChart
          title="Latency"
          times={times}
          format={duration}
          series={[
            series("p50", "one", ({ p50 }) => p50),
            series("p95", "two", ({ p95 }) => p95),
            series("p99", "three", ({ p99 }) => p99),
          ]}
        />
      </Card>
      {tokens > 0 && (
        <Card>
          <TimeChart
            title="Tokens per minute"
            times={times}
            isStacked
            format={count}
            series={[
              series("input", "one", (point) => perSecond(point.inputTokens, point) * 60),
              series("output", "two", (point) => perSecond(point.outputTokens, point) * 60),
            ]}
          />
        </Card>
      )}
      {tokens > 0 && (
        <Card>
          <TimeChart
            title={cost === 0 ? "Cost: no prices known" : "Cost per hour"}
            times={times}
            isStacked
            format={dollars}
            series={[series("US dollars", "good", (point) => perSecond(point.cost, point) * 3600)]}
          />
        </Card>
      )}
    </div>
  );
}

const KINDS: readonly (readonly [Kind, string])[] = [
  ["route", "Routes"],
  ["tool", "Tools"],
  ["model", "Models"],
];

function Rankings({
  report,
  chosen,
  onChoose,
}: {
  report: FigureReport;
  chosen: string;
  onChoose: (of: string) => void;
}) {
  const [kind, setKind] = useState<Kind>("route");
  const rows = report.rows[kind];
  const isTokens = rows.some(({ inputTokens, outputTokens }) => inputTokens + outputTokens > 0);
  const isChosen = (name: string) => chosen === `${kind}:${name}`;
  const figure = (title: string, cell: (row: FigureRow) => ComponentChildren) => ({
    ...{ title, class: "number", cell },
  });
  const columns: readonly Column<FigureRow>[] = [
    {
      title: `${kind[0]?.toUpperCase()}${kind.slice(1)}`,
      isHead: true,
      cell: ({ name }) => (
        <button
          type="button"
          class="link"
          aria-pressed={isChosen(name)}
          title={isChosen(name) ? "Show the charts of all requests" : "Show its charts"}
          onClick={() => onChoose(isChosen(name) ? "" : `${kind}:${name}`)}
        >
          <Text>{name}</Text>
        </button>
      ),
    },
    { title: "Trend", cell: ({ trend }) => <Spark values={trend} /> },
    figure("Requests", ({ requests }) => count(requests)),
    figure("4xx", ({ rejected }) => <Failures value={rejected} tone="" />),
    figure("5xx", ({ failed }) => <Failures value={failed} tone="bad-text" />),
    figure("p50", ({ p50 }) => duration(p50)),
    figure("p95", ({ p95 }) => duration(p95)),
    figure("p99", ({ p99 }) => duration(p99)),
    ...(isTokens
      ? [
          figure("Tokens", ({ inputTokens, outputTokens }) => count(inputTokens + outputTokens)),
          figure("Cost", ({ cost }) => dollars(cost)),
        ]
      : []),
  ];
  return (
    <Card
      title="Figures by"
      class="flush"
      actions={<Segmented label="Figures by" value={kind} options={KINDS} onChange={setKind} />}
    >
      {rows.length === 0 ? (
        <Empty title={`No ${kind} was used in this period`} />
      ) : (
        <DataTable
          label={`Figures by ${kind}`}
          columns={columns}
          rows={rows}
          keyOf={({ name }) => name}
          classOf={({ name }) => (isChosen(name) ? "chosen" : "")}
        />
      )}
    </Card>
  );
}

function Failures({ value, tone }: { value: number; tone: string }) {
  return <span class={value === 0 ? "soft" : tone}>{count(value)}</span>;
}
