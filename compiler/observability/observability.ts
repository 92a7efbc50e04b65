import { buildInfo } from "../../runtime/metrics/table/process.ts";
import type { Program } from "../ir/program.ts";
import { alertsText } from "./alerts.ts";
import { groupsIn, type MetricGroup } from "./metric-groups.ts";
import { type Panel, panels } from "./panels.ts";
import { Promql } from "./promql.ts";

/** Files that show the health of a gateway: `observability/`. */
export function observabilityFiles(
  program: Program,
  modules: readonly { readonly name: string }[],
): readonly { readonly path: string; readonly text: string }[] {
  const groups = groupsIn(program, modules);
  return [
    { path: "observability/dashboard.json", text: dashboardText(program.name, groups) },
    { path: "observability/alerts.yaml", text: alertsText(program.name, groups) },
  ];
}

/** Variables at the top of the dashboard: the data source and the processes. */
const DATA_SOURCE = { type: "prometheus", uid: "${datasource}" };

/** Panels in a row, of Grafana's 24 columns, and their height in its rows. */
const PER_ROW = 3;
const WIDTH = 24 / PER_ROW;
const HEIGHT = 8;

/** The Grafana dashboard of a gateway, as the JSON that Grafana imports. */
function dashboardText(gateway: string, groups: readonly MetricGroup[]): string {
  const query = new Promql({
    matchers: ['job=~"$job"', 'instance=~"$instance"'],
    labels: [],
    window: "$__rate_interval",
  });
  const sections = groups.map(({ name, title }) => ({ title, panels: panels[name](query) }));
  const dashboard = {
    title: `gwc: ${gateway}`,
    uid: `gwc-${gateway}`.slice(0, MAX_UID),
    tags: ["gwc"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    templating: { list: variables(gateway) },
    panels: placed(sections),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

/** Grafana's bound. */
const MAX_UID = 40;

function variables(gateway: string): readonly object[] {
  const known = `${buildInfo.name}{gateway=${JSON.stringify(gateway)}}`;
  const values = (name: string, series: string) => ({
    name,
    type: "query",
    datasource: DATA_SOURCE,
    query: { query: `label_values(${series}, ${name})`, refId: name },
    includeAll: true,
    multi: true,
    current: { text: "All", value: "$__all" },
    refresh: 2,
  });
  return [
    { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
    values("job", known),
    values("instance", known),
  ];
}

interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Sections below each other: the title of each, and its panels in rows. */
function placed(sections: readonly Section[]): readonly object[] {
  const all: object[] = [];
  let top = 0;
  for (const section of sections) {
    const gridPos = { x: 0, y: top, w: 24, h: 1 };
    all.push({
      id: all.length + 1,
      type: "row",
      title: section.title,
      collapsed: false,
      gridPos,
      panels: [],
    });
    top += 1;
    for (const [index, each] of section.panels.entries()) {
      const x = (index % PER_ROW) * WIDTH;
      const y = top + Math.floor(index / PER_ROW) * HEIGHT;
      all.push(graph(all.length + 1, each, { x, y, w: WIDTH, h: HEIGHT }));
    }
    top += Math.ceil(section.panels.length / PER_ROW) * HEIGHT;
  }
  return all;
}

function graph(id: number, { title, unit, queries }: Panel, gridPos: object): object {
  return {
    id,
    type: "timeseries",
    title,
    datasource: DATA_SOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(A + index),
      datasource: DATA_SOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}

const A = 65;
