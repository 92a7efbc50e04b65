import type { MatrixClient } from "./clients.ts";
import type { Announced } from "./recorder.ts";
import type { Trial } from "./trial.ts";

/** Returns the row of a client. */
export function rowOf(
  { name }: MatrixClient,
  { tools, results, asked, app }: Trial,
  { revision, capabilities }: Announced,
): string {
  const answer = /Hello, |declines|cancels/.exec(asked)?.[0] ?? "ends the call with an error";
  const elicitation = capabilities.elicitation === undefined ? "not offered" : answer;
  const cells = [
    name,
    revision,
    tools,
    `${results.length} of ${results.length}`,
    elicitation === "Hello, " ? "answers" : elicitation,
    appCell(app),
  ];
  return `| ${cells.join(" | ")} |`;
}

function appCell(app: string | undefined): string {
  if (app === undefined) return "does not read resources";
  if (app === "rendered") return "renders its page";
  return app.includes("<html") ? "reads its page" : `fails: ${app.slice(0, 80)}`;
}

/** Returns the page of the reference. */
export function matrixPage(rows: readonly string[]): string {
  const head = [
    "client",
    "initialize (revision)",
    "list (tools)",
    "call (servers)",
    "elicitation",
    "apps",
  ];
  return [
    "# MCP clients with nine servers behind one endpoint",
    "",
    "The result of `test/mcp/client-matrix.test.ts`. Each client connects to a compiled gateway that merges nine real servers: the",
    "reference servers everything (over SSE), filesystem, memory, sequential thinking, time, git and fetch, an example of MCP Apps,",
    "and a server of FastMCP. Each client lists the tools, and calls one tool of each server. Then a server asks the user a question in a",
    "call, and the client reads the app of a tool. The server everything has more tools for clients that offer more capabilities, so the",
    "numbers of tools differ. `GWC_LONG_TESTS=1 npx vitest run test/mcp/client-matrix.test.ts -u` writes this page.",
    "",
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows,
    "",
  ].join("\n");
}
