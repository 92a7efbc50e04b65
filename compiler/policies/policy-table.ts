import { policies } from "./index.ts";

/** The README's policy table, in request order, in Markdown. */
export function policyTable(): string {
  const rows = policies.map(
    ({ kind, summary, scope }) => `| \`${kind}\` | ${summary} | ${scope.join(", ")} |`,
  );
  return ["| policy | what it does | stands on |", "| --- | --- | --- |", ...rows].join("\n");
}
