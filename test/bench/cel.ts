import { celEnv, parse, plan } from "@bufbuild/cel";
import { Environment } from "@marcbachmann/cel-js";
import type { CelSlot } from "../../compiler/cel/compile.ts";
import { compileExpression } from "../../compiler/cel/compile.ts";
import { functionOf } from "../../compiler/cel/evaluate/run-code.ts";

/** One expression against the two interpreters, in one run. */
export interface CelDuel {
  readonly name: string;
  readonly expression: string;
  /** Nanoseconds an evaluation: as a rule, as a value, by @marcbachmann/cel-js, by @bufbuild/cel. */
  readonly rule: number | undefined;
  readonly value: number;
  readonly marcbachmann: number;
  readonly bufbuild: number;
  /** Bytes that an evaluation as a rule allocates. */
  readonly allocated: number | undefined;
}

interface Subject {
  readonly name: string;
  readonly phase: "mcp" | "log";
  readonly expression: string;
  readonly isRule: boolean;
}

const SUBJECTS: readonly Subject[] = [
  { name: "A", phase: "mcp", expression: 'jwt.sub == "a" && mcp.tool.name == "b"', isRule: true },
  { name: "B", phase: "mcp", expression: '"admin" in jwt.roles', isRule: true },
  {
    name: "C",
    phase: "mcp",
    expression: 'request.path.startsWith("/api") && jwt.email.endsWith("@x.com")',
    isRule: true,
  },
  { name: "D", phase: "mcp", expression: 'has(jwt.sub) ? jwt.sub : "anon"', isRule: false },
  {
    name: "E",
    phase: "log",
    expression: "llm.outputTokens * 2 + llm.inputTokens > 100",
    isRule: true,
  },
  {
    name: "F",
    phase: "mcp",
    expression: 'mcp.tool.name in ["a", "b", "c", "d", "e"]',
    isRule: true,
  },
  {
    name: "G",
    phase: "mcp",
    expression: 'request.headers["x-foo"] == "v1" || jwt.roles.exists(r, r.startsWith("adm"))',
    isRule: true,
  },
];

/** Different inputs, so that nothing is constant for the optimizer. */
const CONTEXTS = 64;

/** Measures the seven expressions; `seconds` for each of the four contenders. */
export function measureCel(seconds = 0.2): readonly CelDuel[] {
  return SUBJECTS.map((subject) => duel(subject, seconds));
}

/** The duels as lines: times, and how many times faster the compiled form is. */
export function formatCel(duels: readonly CelDuel[]): string {
  const lines = duels.map((each) => {
    const best = each.rule ?? each.value;
    const ratio = (other: number) => `${(other / best).toFixed(1)}x`.padStart(8);
    const time = (ns: number | undefined) => (ns === undefined ? "-" : ns.toFixed(1)).padStart(8);
    return (
      `cel ${each.name}  rule ${time(each.rule)} ns  value ${time(each.value)} ns  ` +
      `marcbachmann ${ratio(each.marcbachmann)}  bufbuild ${ratio(each.bufbuild)}  ` +
      `allocates ${each.allocated === undefined ? "-" : `${each.allocated.toFixed(2)} B`}`
    );
  });
  return `${lines.join("\n")}\n`;
}

function duel({ name, phase, expression, isRule }: Subject, seconds: number): CelDuel {
  const compiled = (slot: CelSlot) => {
    const { expression: found } = compileExpression(expression, { phase, slot });
    if (found === undefined) throw new Error(`"${expression}" does not compile`);
    return functionOf(found.code, found.variables);
  };
  const inputs = Array.from({ length: CONTEXTS }, (_, at) => contextOf(at));
  const ours = inputs.map(({ variables }) => variables);
  const plain = inputs.map(({ data }) => data);
  const environment = new Environment({ unlistedVariablesAreDyn: true });
  const marcbachmann = environment.parse(expression);
  const bufbuild = plan(celEnv(), parse(expression));
  const rule = isRule ? compiled("allow") : undefined;
  return {
    name,
    expression,
    rule: rule === undefined ? undefined : nanoseconds(rule, ours, seconds),
    value: nanoseconds(compiled("value"), ours, seconds),
    marcbachmann: nanoseconds(marcbachmann, plain, seconds),
    bufbuild: nanoseconds(bufbuild, plain, seconds),
    allocated: rule === undefined ? undefined : allocation(rule, ours),
  };
}

/** The variables as emitted code has them, and as plain data for the interpreters. */
function contextOf(at: number) {
  const jwt = {
    sub: at % 2 === 0 ? "a" : `user-${at}`,
    email: `u${at}@${at % 3 === 0 ? "x.com" : "y.org"}`,
    roles: at % 4 === 0 ? ["dev", "admin"] : ["dev", `team-${at}`, "ops"],
  };
  const headers = new Map([["x-foo", at % 5 === 0 ? "v1" : `v${at}`]]);
  const path = at % 2 === 0 ? `/api/${at}` : `/app/${at}`;
  const tool = { name: "abcdefgh".charAt(at % 8), target: "t" };
  const tokens = { outputTokens: at * 3, inputTokens: at };
  return {
    variables: {
      jwt,
      mcp: { tool, methodName: "tools/call" },
      request: { path, header: (name: string) => headers.get(name), headerMap: () => headers },
      llm: tokens,
    },
    data: {
      jwt,
      mcp: { tool },
      request: { path, headers: Object.fromEntries(headers) },
      llm: { outputTokens: BigInt(tokens.outputTokens), inputTokens: BigInt(tokens.inputTokens) },
    },
  };
}

/** The best of several rounds: the least disturbed one. */
function nanoseconds<Input>(
  run: (input: Input) => unknown,
  inputs: readonly Input[],
  seconds: number,
): number {
  let best = Number.POSITIVE_INFINITY;
  let count = 1_000;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const start = performance.now();
    consume(run, inputs, count);
    const taken = performance.now() - start;
    best = Math.min(best, (taken * 1e6) / (count * CONTEXTS));
    if (taken < 5) count *= 2;
  }
  return best;
}

function consume<Input>(
  run: (input: Input) => unknown,
  inputs: readonly Input[],
  count: number,
): number {
  let truths = 0;
  for (let round = 0; round < count; round += 1) {
    for (const input of inputs) if (run(input) === true) truths += 1;
  }
  return truths;
}

function allocation<Input>(run: (input: Input) => unknown, inputs: readonly Input[]): number {
  const rounds = 4_000;
  consume(run, inputs, rounds);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const before = process.memoryUsage().heapUsed;
    consume(run, inputs, rounds);
    const grown = process.memoryUsage().heapUsed - before;
    if (grown >= 0) least = Math.min(least, grown / (rounds * CONTEXTS));
  }
  return least;
}

if (import.meta.main) process.stdout.write(formatCel(measureCel()));
