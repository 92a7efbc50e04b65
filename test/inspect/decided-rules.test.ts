import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { realHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { RuleModel } from "../../compiler/inspect/effect/model/rule-model.ts";
import { accessOf } from "../../compiler/ir/access.ts";
import { servedRoutes } from "../../compiler/ir/routes.ts";
import { root } from "../harness/root.ts";

it("every rule of the examples is decided, whatever the request", () => {
  const checks = readdirSync(join(root, "examples"), { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const folder = join(root, "examples", entry.name);
    const input = entry.name.startsWith("cluster") ? folder : join(folder, "gateway.yaml");
    return checkInput([input], realHost({}), false).programs.flatMap((program) =>
      servedRoutes(program).flatMap(({ route, listeners }) =>
        [...listeners.flatMap(({ preRouting }) => preRouting?.policies ?? []), ...route.policies]
          .flatMap(accessOf)
          .filter((check) => check.kind === "rules"),
      ),
    );
  });
  const rules = new Set(checks.flatMap((check) => check.rules.map(({ text }) => text)));
  const undecided = checks.flatMap(({ phase, rules: some }) => {
    const model = new RuleModel(phase, some);
    const opaque = model.leaves.filter(({ kind }) => kind === "opaque").map(({ text }) => text);
    return model.isComplete ? opaque : [...opaque, "values without a class"];
  });
  expect(undecided).toEqual([]);
  expect(rules.size).toBeGreaterThan(15);
});
