import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files of tests that take long alone, by their ends: begun last, one of them would keep a processor busy by itself. */
const LONGEST = [
  "compiler/fields/file-fields.test.ts",
  "conformance/mcp-stateless.test.ts",
  "conformance/mcp.test.ts",
  "mcp/python-sdks.test.ts",
  "llm/python-clients.test.ts",
  "policies/a2a.test.ts",
  "cli/build.test.ts",
  "cli/lock.test.ts",
  "cli/run.test.ts",
  "cli/usage.test.ts",
  "policies/jwt-remote-keys.test.ts",
  "policies/ext-proc-bodies.test.ts",
  "mcp/real-servers.test.ts",
  "mcp/tool-lock.test.ts",
  "mcp/stdio.test.ts",
  "cli/tests.test.ts",
  "compiler/type-check.test.ts",
  "compiler/examples.test.ts",
  "http/routing/decision.test.ts",
  "llm/budgets.test.ts",
  "llm/guard-table.test.ts",
  "telemetry/tracing.test.ts",
];

/** Begins with the longest files of tests; a fresh clone does not know yet how long each takes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => orderOf(a) - orderOf(b) || rankOf(a) - rankOf(b));
  }
}

/** Groups of files run one after the other. */
function orderOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder;
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return rank < 0 ? LONGEST.length : rank;
}
