import type { Emitted } from "../4-emit/emit.ts";
import type { Program } from "../ir/program.ts";
import { allRoutes } from "../ir/routes.ts";

/** Renders the contents of a build as an aligned table: routes, policies, modules, the bundle's size. */
export function buildTable(folder: string, program: Program, emitted: Emitted): string {
  const { modules, bundle, graph } = emitted;
  const routes = allRoutes(program).map(({ route }) => route.name);
  const policies = Object.keys(graph.policies);
  const rows: readonly (readonly [string, number | string, string])[] = [
    ["routes", routes.length, shortList(routes)],
    ["policies", policies.length, shortList(policies)],
    ["modules", modules.length, `plus ${emitted.bundle.modules.length} of the runtime`],
    ["bundle", size(Buffer.byteLength(bundle.text)), `node ${folder}/gateway.mjs`],
  ];
  const width = Math.max(...rows.map(([, amount]) => String(amount).length));
  const lines = rows.map(([what, amount, detail]) =>
    `  ${what.padEnd(8)}  ${String(amount).padStart(width)}  ${detail}`.trimEnd(),
  );
  return `${folder}\n${lines.join("\n")}\n`;
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 6).join(", ");
  return names.length > 6 ? `${shown}, and ${names.length - 6} more` : shown;
}

function size(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
