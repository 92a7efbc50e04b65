import { useState } from "preact/hooks";
import type { ProblemData, UsageData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { Bars, TimeChart } from "./chart.tsx";
import { isProblem, useData } from "./data.ts";
import { type Column, DataTable } from "./data-table.tsx";
import { amount, count, dollars, visible } from "./format.ts";
import { Card, Empty, Loading, PageHead, Problem, Segmented, Select, Text } from "./parts.tsx";

type Period = "7d" | "month" | "30d" | "90d";

const PERIODS: readonly (readonly [Period, string])[] = [
  ["7d", "7 days"],
  ["month", "Month"],
  ["30d", "30 days"],
  ["90d", "90 days"],
];

type Measure = "cost" | "tokens" | "requests";

const MEASURES: readonly (readonly [Measure, string])[] = [
  ["cost", "Cost"],
  ["tokens", "Tokens"],
  ["requests", "Requests"],
];

/** Milliseconds after which usage is read again. */
const REFRESH = 10_000;

/** Who used which models, and what it cost, from the gateway's store. */
export function UsagePage({ gateway }: PageProps) {
  const [period, setPeriod] = useState<Period>("30d");
  const [first, setFirst] = useState("key");
  const [second, setSecond] = useState("model");
  const [measure, setMeasure] = useState<Measure>("cost");
  const since = sinceOf(period);
  const has = gateway.has.usage;
  const by = second === "" || second === first ? first : `${first},${second}`;
  const table = useData<UsageData | ProblemData>(
    has ? `usage?since=${since}&by=${by}` : null,
    REFRESH,
  );
  const days = useData<UsageData | ProblemData>(
    has ? `usage?since=${since}&by=day` : null,
    REFRESH,
  );
  const about =
    "Requests, tokens and costs of models, added up in the gateway's store per caller, model and day (UTC).";
  if (!has)
    return (
      <>
        <PageHead title="Usage" about={about} />
        <Card>
          <Empty icon="usage" title="This gateway stores no usage">
            Write <code>config: {"{ usage: {} }"}</code> to add it up: see{" "}
            <code>gwc explain guide keys</code>.
          </Empty>
        </Card>
      </>
    );
  return (
    <>
      <PageHead title="Usage" about={about}>
        <Segmented label="Period" value={period} options={PERIODS} onChange={setPeriod} />
      </PageHead>
      <Report
        table={table.data}
        days={days.data}
        problem={table.problem}
        since={since}
        measure={measure}
        onMeasure={setMeasure}
      >
        {(columns) => (
          <>
            <Select
              isQuiet
              label="First column"
              value={first}
              options={columns.map((each) => [each, `by ${each}`] as const)}
              onChange={setFirst}
            />
            <Select
              isQuiet
              label="Second column"
              value={second}
              options={[
                ["", "and nothing else"],
                ...columns.map((each) => [each, `and ${each}`] as const),
              ]}
              onChange={setSecond}
            />
          </>
        )}
      </Report>
    </>
  );
}

function sinceOf(period: Period): string {
  const today = new Date();
  if (period === "month") return `${today.toISOString().slice(0, 7)}-01`;
  const days = Number(period.slice(0, -1)) - 1;
  return new Date(today.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}

function Report({
  table,
  days,
  problem,
  since,
  measure,
  onMeasure,
  children,
}: {
  table: UsageData | ProblemData | undefined;
  days: UsageData | ProblemData | undefined;
  problem: string | undefined;
  since: string;
  measure: Measure;
  onMeasure: (measure: Measure) => void;
  children: (columns: readonly string[]) => preact.ComponentChildren;
}) {
  if (problem !== undefined) return <Problem>{problem}</Problem>;
  if (table === undefined) return <Loading />;
  if (isProblem(table)) return <Problem>{table.problem}</Problem>;
  const { total, groups, by, columns } = table;
  const format = measure === "cost" ? dollars : count;
  const measured = (group: UsageData["total"]) =>
    measure === "tokens" ? group.input + group.output : group[measure];
  const ranked = byFirst(groups, measured).slice(0, 8);
  const isPriced = total.unpriced === 0;
  return (
    <>
      <div class="tiles">
        {(
          [
            [
              "Cost",
              dollars(total.cost),
              isPriced ? "by known prices" : `${amount(total.unpriced, "call")} without a price`,
            ],
            ["Requests", count(total.requests), amount(groups.length, "row")],
            ["Input tokens", count(total.input), "prompts"],
            ["Output tokens", count(total.output), "completions"],
          ] as const
        ).map(([label, value, note]) => (
          <dl class="tile" key={label}>
            <dt>{label}</dt>
            <dd class="tile-value">{value}</dd>
            <dd class="soft">{note}</dd>
          </dl>
        ))}
      </div>
      <div class="filters">
        <Segmented label="Charts of" value={measure} options={MEASURES} onChange={onMeasure} />
        {children(columns)}
      </div>
      <div class="columns charts">
        <Card>
          {days !== undefined && !isProblem(days) ? (
            <DayChart
              report={days}
              since={since}
              measure={measure}
              format={format}
              measured={measured}
            />
          ) : (
            <Loading />
          )}
        </Card>
        <Card title={`Most by ${by[0] ?? ""}`}>
          {ranked.length === 0 ? (
            <Empty title="No usage in this period" />
          ) : (
            <Bars rows={ranked} format={format} />
          )}
        </Card>
      </div>
      <Card class="flush" title="Rows" note={amount(groups.length, "row")}>
        {groups.length === 0 ? (
          <Empty icon="usage" title="No usage in this period">
            Calls of models appear here about a second after they end.
          </Empty>
        ) : (
          <DataTable
            label="Usage"
            columns={columnsOf(by, isPriced)}
            rows={groups}
            keyOf={({ values }) => values.join("\n")}
          />
        )}
      </Card>
    </>
  );
}

function columnsOf(
  by: readonly string[],
  isPriced: boolean,
): readonly Column<UsageData["total"]>[] {
  const figure = (title: string, cell: (group: UsageData["total"]) => string) => ({
    ...{ title, class: "number", cell },
  });
  return [
    ...by.map((column, index) => ({
      title: visible(column),
      cell: ({ values }: UsageData["total"]) => <Text>{values[index] ?? "–"}</Text>,
    })),
    figure("Requests", ({ requests }) => count(requests)),
    figure("Input", ({ input }) => count(input)),
    figure("Output", ({ output }) => count(output)),
    figure("Cost", ({ cost }) => dollars(cost)),
    ...(isPriced ? [] : [figure("Unpriced", ({ unpriced }) => count(unpriced))]),
  ];
}

/** Adds up the rows by their first column. */
function byFirst(
  groups: UsageData["groups"],
  measured: (group: UsageData["total"]) => number,
): readonly { readonly name: string; readonly value: number }[] {
  const sums = new Map<string, number>();
  for (const group of groups) {
    const name = visible(group.values[0] ?? "–");
    sums.set(name, (sums.get(name) ?? 0) + measured(group));
  }
  return Array.from(sums, ([name, value]) => ({ name, value }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value);
}

function DayChart({
  report,
  since,
  measure,
  format,
  measured,
}: {
  report: UsageData;
  since: string;
  measure: Measure;
  format: (value: number) => string;
  measured: (group: UsageData["total"]) => number;
}) {
  const days = new Map(report.groups.map((group) => [group.values[0], measured(group)]));
  const begin = Date.parse(since);
  const length = Math.round((Date.parse(report.until) - begin) / 86_400_000) + 1;
  const times = Array.from({ length }, (_, index) => begin + index * 86_400_000);
  const values = times.map((at) => days.get(new Date(at).toISOString().slice(0, 10)) ?? 0);
  return (
    <TimeChart
      title={`${measure[0]?.toUpperCase()}${measure.slice(1)} per day`}
      times={times}
      isStacked
      isBars
      format={format}
      timeText={(at) =>
        new Date(at).toLocaleDateString("en-GB", {
          day: "numeric",
          month: "short",
          timeZone: "UTC",
        })
      }
      series={[{ name: measure, color: "one", values }]}
    />
  );
}
