import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, comment, join, literal } from "../code/code.ts";
import type { Code, Hole, Printable } from "../code/hole.ts";
import { returned } from "../code/layout.ts";
import { capitalized, imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { ifStatement } from "../code/statements.ts";
import { call, listExpression } from "../code/syntax.ts";
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
    cases.some(({ value }) => value.some((limit) => limit.isPersisted && countsHere(limit)))
      ? imported(`${MODULE}/shared-persisted-limits`, "persistedTables")
      : undefined,
  asksBeforeCalls: ({ cases }) =>
    cases.some(({ value }) => value.some(({ counts }) => counts === "tokens")),
  code: ({ settings: { cases } }, scope) => {
    const made = casesCode(cases, "isLimited", scope, (limits) => {
      const own = limits.filter(({ shared }) => shared === undefined);
      const parts = own.map((limit) => limitCode(limit, scope));
      const stored = limits.flatMap((limit) => storedLimitCode(limit, scope) ?? []);
      return {
        declarations: [...parts, ...stored].flatMap(({ declarations }) => declarations),
        steps: [...parts.map(({ step }) => step), ...storedSteps(stored, scope)],
      };
    });
    const read = cases.flatMap(({ value }) =>
      value.flatMap(({ key, cost }) => [key ?? [], cost ?? []].flat()),
    );
    const isAsync = cases.some(({ value }) =>
      value.some((limit) => limit.shared !== undefined && !isLater(limit, scope)),
    );
    return {
      ...made,
      isAsync,
      readsRequestBody: made.readsRequestBody || readsBody(read, "request"),
    };
  },
};

/** Whether a limit applies only if the request turns out to be a model call. */
function isLater({ counts }: Pick<Limit, "counts">, { phase }: RouteScope): boolean {
  return counts === "tokens" && phase === "PreRouting";
}

/** Whether a process may count it for itself. */
function countsHere({ shared }: Limit): boolean {
  return shared === undefined || shared.isOptional;
}

/** Writes one limit: its constants and functions, and the statement that checks it. */
function limitCode(
  limit: Limit,
  scope: RouteScope,
): { readonly declarations: readonly Hole[]; readonly step: Hole } {
  const { name: label, counts, origin } = limit;
  const id = name(label);
  const { caller, price } = functionsOf(limit, scope);
  const keyed = keyedWord(limit);
  const what = counts === "tokens" ? "TokenLimit" : "Limit";
  const isOfCalls = isLater(limit, scope);
  const ask = imported(
    MODULE,
    isOfCalls ? `limit${keyed}TokensOfCalls` : `refuseOver${keyed}${what}`,
  );
  const passed = [code`exchange`, id, ...[caller, price].flatMap((each) => each?.call ?? [])];
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const ${id} = ${openLocal(limit, scope)};
      `,
      ...[caller, price].flatMap((each) => each?.declaration ?? []),
    ],
    step: isOfCalls ? code`${call(ask, passed)};` : ifStatement([call(ask, passed)], code`return;`),
  };
}

function keyedWord({ key }: Limit): "" | "Keyed" {
  return key === undefined ? "" : "Keyed";
}

/** Writes the functions of the key and the cost of a limit. */
function functionsOf({ name: label, key, cost }: Limit, scope: RouteScope) {
  const Label = capitalized(label);
  return {
    caller: key && valueFunction(`key${Label}`, key, scope.expressions, scope.variables),
    price: cost && costFunction(`cost${Label}`, cost, scope),
  };
}

/** Writes the call that opens a limit of this process. */
function openLocal(limit: Limit, scope: RouteScope): Code {
  const keyed = keyedWord(limit);
  const persisted = limit.isPersisted ? "Persisted" : "";
  const open = scope.hasThreads
    ? imported(
        `${MODULE}/shared-${limit.isPersisted ? "persisted-" : ""}limits`,
        `openShared${persisted}${keyed}RateLimit`,
      )
    : imported(MODULE, `open${persisted}${keyed}RateLimit`);
  return code`${open}(${literal(settingsOf(limit, scope))})`;
}

/** A limit that replicas share, and its use by a request. */
interface StoredLimitCode {
  readonly declarations: readonly Hole[];
  readonly counts: Limit["counts"];
  readonly use: Code;
}

/** Writes a limit that replicas share; `undefined` if each counts for itself. */
function storedLimitCode(limit: Limit, scope: RouteScope): StoredLimitCode | undefined {
  const { name: label, counts, shared, origin } = limit;
  if (shared === undefined) return undefined;
  const id = name(label);
  const { caller, price } = functionsOf(limit, scope);
  const settings = literal(storedSettings(limit, shared, scope));
  const open = imported(STORED, "openStoredRateLimit");
  const opened = shared.isOptional
    ? call(open, [settings, openLocal(limit, scope)])
    : code`${open}(${settings})`;
  const used = [
    id,
    ...(caller === undefined ? (price === undefined ? [] : [code`undefined`]) : [caller.call]),
    ...(price === undefined ? [] : [price.call]),
  ];
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const ${id} = ${opened};
      `,
      ...[caller, price].flatMap((each) => each?.declaration ?? []),
    ],
    counts,
    use: code`${call(imported(STORED, counts === "requests" ? "useOfRequests" : "useOfTokens"), used)}`,
  };
}

const STORED = `${MODULE}/stored-limits`;

/** Writes the statements that check limits that replicas share, with one question to the store. */
function storedSteps(limits: readonly StoredLimitCode[], scope: RouteScope): readonly Hole[] {
  const listOf = (some: readonly StoredLimitCode[]) => listExpression(some.map(({ use }) => use));
  const now = limits.filter((each) => !isLater(each, scope));
  const later = limits.filter((each) => isLater(each, scope));
  const refuse = imported(STORED, "refuseOverStoredLimits");
  return [
    ...(now.length === 0
      ? []
      : [ifStatement([code`await ${call(refuse, [code`exchange`, listOf(now)])}`], code`return;`)]),
    ...(later.length === 0
      ? []
      : [
          code`${call(imported(STORED, "limitStoredTokensOfCalls"), [code`exchange`, listOf(later)])};`,
        ]),
  ];
}

function storedSettings(
  limit: Limit,
  { isStrict, onStoreFailure }: NonNullable<Limit["shared"]>,
  { id, trace }: RouteScope,
): Readonly<Record<string, Printable | undefined>> {
  const { name: label, capacity, refill, interval, key, cost, origin } = limit;
  return {
    name: `${id}/${label}`,
    capacity,
    refill,
    window: typeof interval === "number" ? milliseconds(interval) : interval,
    isWhole: cost === undefined,
    isStrict,
    onStoreFailure,
    maxKeys: key === undefined ? 1 : MAX_KEYS,
    origin: trace.text(origin),
    spent: spentText(limit),
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
