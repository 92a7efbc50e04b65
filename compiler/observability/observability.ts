import type { Program } from "../ir/program.ts";
import { alertsText } from "./alerts.ts";
import { dashboardText } from "./dashboard.ts";
import { groupsIn } from "./metric-groups.ts";

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
