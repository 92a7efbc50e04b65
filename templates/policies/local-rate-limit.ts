import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, comment, join, literal } from "../code/code.ts";
import type { Code, Hole, Printable } from "../code/hole.ts";
import { returned } from "../code/layout.ts";
import { capitalized, imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { ifStatement } from "../code/statements.ts";
import { call } from "../code/syntax.ts";
import { milliseconds } from "../code/units.ts";
import { type ValueFunction, valueFunction } from "../code/value-function.ts";
import { parameter } from "../code/variables.ts";
import { casesCode } from "./parts/cases.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/local-rate-limit";

/** Maximum number of keys that a limit tracks. */
const MAX_KEYS = 10_000;

type Limit = PolicySettings["localRateLimit"]["cases"][number]["value"][number];

/** `localRateLimit`: one check for each limit, its key and its cost as functions. */
export const localRateLimitTemplate: PolicyTemplate<"localRateLimit"> = {
  persistedState: ({ cases }) =>
    cases.some(({ value }) => value.some(({ isPersisted }) => isPersisted))
      ? imported(`${MODULE}/shared-persisted-limits`, "persistedTables")
      : undefined,
  asksBeforeCalls: ({ cases }) =>
    cases.some(({ value }) => value.some(({ counts }) => counts === "tokens")),
  code: ({ settings: { cases } }, scope) => {
    const made = casesCode(cases, "isLimited", scope, (limits) => {
      const parts = limits.map((limit) => limitCode(limit, scope));
      return {
        declarations: parts.flatMap(({ declarations }) => declarations),
        steps: parts.map(({ step }) => step),
      };
    });
    const read = cases.flatMap(({ value }) =>
      value.flatMap(({ key, cost }) => [key ?? [], cost ?? []].flat()),
    );
    return { ...made, readsRequestBody: made.readsRequestBody || readsBody(read, "request") };
  },
};

/** Writes one limit: its constants and functions, and the statement that checks it. */
function limitCode(
  limit: Limit,
  scope: RouteScope,
): { readonly declarations: readonly Hole[]; readonly step: Hole } {
  const { name: label, counts, key, cost, origin } = limit;
  const id = name(label);
  const Label = capitalized(label);
  const caller = key && valueFunction(`key${Label}`, key, scope.expressions, scope.variables);
  const price = cost && costFunction(`cost${Label}`, cost, scope);
  const keyed = key === undefined ? "" : "Keyed";
  const persisted = limit.isPersisted ? "Persisted" : "";
  const open = scope.hasThreads
    ? imported(
        `${MODULE}/shared-${limit.isPersisted ? "persisted-" : ""}limits`,
        `openShared${persisted}${keyed}RateLimit`,
      )
    : imported(MODULE, `open${persisted}${keyed}RateLimit`);
  const what = counts === "tokens" ? "TokenLimit" : "Limit";
  const isLater = counts === "tokens" && scope.phase === "PreRouting";
  const ask = imported(
    MODULE,
    isLater ? `limit${keyed}TokensOfCalls` : `refuseOver${keyed}${what}`,
  );
  const passed = [code`exchange`, id, ...[caller, price].flatMap((each) => each?.call ?? [])];
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const ${id} = ${open}(${literal(settingsOf(limit, scope))});
      `,
      ...[caller, price].flatMap((each) => each?.declaration ?? []),
    ],
    step: isLater ? code`${call(ask, passed)};` : ifStatement([call(ask, passed)], code`return;`),
  };
}

function settingsOf(
  limit: Limit,
  { id, trace, hasThreads }: RouteScope,
): Readonly<Record<string, Printable | undefined>> {
  const { name: label, capacity, refill, interval, key, isPersisted, origin } = limit;
  return {
    name: isPersisted || hasThreads ? `${id}/${label}` : undefined,
    capacity,
    refill,
    ...(isPersisted
      ? { window: windowCode(interval) }
      : { interval: typeof interval === "number" ? milliseconds(interval) : undefined }),
    maxKeys: key === undefined ? undefined : MAX_KEYS,
    origin: trace.text(origin),
    spent: spentText(limit),
  };
}

/** Returns the words for a caller whose budget is spent; `undefined` for other limits. */
function spentText({ name: label, refill, interval, key }: Limit): string | undefined {
  const period = PERIODS.get(interval);
  if (!label.startsWith("budgetPer") || period === undefined) return undefined;
  return `${key === undefined ? "the" : "your"} budget of ${refill} ${period} is spent`;
}

const PERIODS: ReadonlyMap<Limit["interval"], string> = new Map<Limit["interval"], string>([
  [1000, "a second"],
  [60_000, "a minute"],
  [3_600_000, "an hour"],
  ["day", "a day"],
  ["month", "a month"],
]);

/** Writes an interval that follows the machine's clock. */
function windowCode(interval: Limit["interval"]): Printable {
  const windows = `${MODULE}/windows`;
  if (interval === "day") return imported(windows, "calendarDays");
  if (interval === "month") return imported(windows, "calendarMonths");
  return code`${imported(windows, "clockInterval")}(${literal(milliseconds(interval))})`;
}

/** Writes the function that computes the cost of a call once it has ended. */
function costFunction(
  label: string,
  { source, variables, code: emitted }: NonNullable<Limit["cost"]>,
  { expressions, variables: known }: RouteScope,
): ValueFunction {
  const readsCall = variables.includes("llm");
  const others = variables.filter((variable) => variable !== "llm");
  const call = code`llm: ${importedType("gwc/runtime/cel/variables", "LlmCall")}`;
  const own = readsCall ? [call] : [];
  const args: readonly Code[] = others.map((variable) => known.argument(variable));
  const given = join([...(readsCall ? [name("llm")] : []), ...args], ", ");
  const head = readsCall ? code`(llm) =>` : code`() =>`;
  return {
    declaration: code`
      function ${name(label)}(${join([...own, ...others.map(parameter)], ", ")}): unknown {
        ${comment(source)}
        ${returned(expressions.use(emitted))}
      }
    `,
    call: args.length === 0 ? code`${name(label)}` : code`${head} ${name(label)}(${given})`,
  };
}
