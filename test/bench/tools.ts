import { compileExpression } from "../../compiler/cel/compile.ts";
import { functionOf } from "../../compiler/cel/evaluate/run-code.ts";
import { ToolIndex } from "../../runtime/mcp/aggregate/tool-index.ts";
import { readMessage } from "../../runtime/mcp/protocol/message.ts";
import { callArguments } from "../../runtime/mcp/rules/call-arguments.ts";
import { manyTools } from "../mcp/many-tools.ts";

/** Maximum microseconds of a search among 500 tools, and of a rule on arguments. */
export const toolGoals = { search: 50, rule: 1 } as const;

/** Costs of the two features of MCP that every call or search pays, in microseconds. */
export interface ToolCosts {
  /** A search with two or three words, and the summaries of the five best tools. */
  readonly search: number;
  /** Cost of a rule on two arguments in a call: their values, and the decision. */
  readonly rule: number;
}

const TOOLS = 500;
const FOUND = 5;
/** Different inputs, so that nothing is constant for the optimizer. */
const INPUTS = 64;

/** Measures both in this process, without a connection. */
export function measureTools(): ToolCosts {
  const definitions = manyTools(TOOLS);
  const tools = definitions.map((each) => ({ name: nameOf(each), text: JSON.stringify(each) }));
  // Fields that only lists read are absent.
  const index = new ToolIndex(tools as unknown as ConstructorParameters<typeof ToolIndex>[0]);
  const names = tools.map(({ name }) => name.replaceAll("_", " "));
  const queries = Array.from({ length: INPUTS }, (_, at) => `${names[(at * 31) % TOOLS]} please`);
  const search = best(queries, (query) => {
    let found = 0;
    for (const tool of index.search(query)) {
      index.summary(tool);
      found += 1;
      if (found === FOUND) break;
    }
  });
  const expression = 'mcp.tool.arguments.amount <= 100 && mcp.tool.arguments.currency == "EUR"';
  const { expression: compiled } = compileExpression(expression, { phase: "mcp", slot: "allow" });
  if (compiled === undefined) throw new Error(`"${expression}" does not compile`);
  const rule = functionOf(compiled.code, compiled.variables);
  const calls = Array.from({ length: INPUTS }, (_, at) => callOf(at));
  const judged = best(calls, (call) => {
    const given = callArguments(call);
    rule({
      mcp: { methodName: "tools/call", tool: { name: "pay", target: "t", arguments: given } },
    });
  });
  return { search, rule: judged };
}

function nameOf(definition: object): string {
  return "name" in definition ? String(definition.name) : "";
}

function callOf(at: number) {
  const given = { amount: at * 3, currency: at % 3 === 0 ? "USD" : "EUR", to: `account-${at}` };
  const params = { name: "pay", arguments: given };
  const call = readMessage(
    JSON.stringify({ jsonrpc: "2.0", id: at, method: "tools/call", params }),
  );
  if (!("method" in call)) throw new Error("not a call");
  return call;
}

/** Returns microseconds of one step: the minimum of many rounds, because other load of the machine only adds time. */
function best<Input>(inputs: readonly Input[], step: (input: Input) => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 400; round++) {
    const start = process.hrtime.bigint();
    for (const input of inputs) step(input);
    least = Math.min(least, Number(process.hrtime.bigint() - start));
  }
  return least / inputs.length / 1000;
}
