import type { PolicySettings } from "../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, comment, join, literal } from "../code/code.ts";
import { headerList } from "../code/header-list.ts";
import type { Code, Hole } from "../code/hole.ts";
import { assigned } from "../code/layout.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { milliseconds } from "../code/units.ts";
import { parameter } from "../code/variables.ts";
import { grpcChannelCode } from "./parts/callout-target.ts";
import { type CaseCode, casesCode } from "./parts/cases.ts";
import { valueMember } from "./parts/object-function.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/remote-rate-limit";

type Service = PolicySettings["remoteRateLimit"]["cases"][number]["value"];
type Descriptor = Service["descriptors"][number];

/** `remoteRateLimit`: the service, the counted descriptors, and the statement that calls it. */
export const remoteRateLimitTemplate: PolicyTemplate<"remoteRateLimit"> = {
  asksBeforeCalls: ({ cases }) =>
    cases.some(({ value }) => value.descriptors.some(({ unit }) => unit === "tokens")),
  code: ({ settings: { cases } }, scope) => {
    const made = casesCode(cases, "isCounted", scope, (value, suffix) =>
      serviceCode(value, suffix, scope),
    );
    const read = cases.flatMap(({ value }) => value.descriptors.flatMap(expressionsOf));
    return {
      ...made,
      isAsync: true,
      readsRequestBody: made.readsRequestBody || readsBody(read, "request"),
    };
  },
};

function expressionsOf({ entries, cost, limit }: Descriptor): readonly CompiledExpression[] {
  return [
    ...entries.map(({ value }) => value),
    ...(cost === undefined ? [] : [cost]),
    ...(limit === undefined ? [] : [limit]),
  ];
}

function serviceCode(value: Service, suffix: string, scope: RouteScope): CaseCode {
  const { target, domain, descriptors, passesOnFailure, origin } = value;
  if (descriptors.length === 0) return { declarations: [], steps: [] };
  const label = name(`remoteRateLimit${suffix}`);
  const of = (unit: Descriptor["unit"]) => descriptors.filter((each) => each.unit === unit);
  const requests = usesFunction(`countedRequests${suffix}`, "CountedUse", of("requests"), scope);
  const tokens = usesFunction(`countedTokens${suffix}`, "CountedTokens", of("tokens"), scope);
  const counted = literal({ requests: requests?.call, tokens: tokens?.call });
  const isSplit = tokens !== undefined && scope.phase === "PreRouting";
  const admit = isSplit ? "admitCountedBeforeRouting" : "admitCounted";
  const service = {
    server: grpcChannelCode(target),
    deadline: milliseconds(target.deadline),
    domain,
    passesOnFailure,
  };
  return {
    declarations: [
      code`
        ${scope.trace(origin)}
        const ${label}: ${importedType(MODULE, "LimitService")} = ${literal(service)};
      `,
      ...(requests === undefined ? [] : [requests.declaration]),
      ...(tokens === undefined ? [] : [tokens.declaration]),
    ],
    steps: [
      code`const counted = ${counted};`,
      code`if (!(await ${imported(MODULE, admit)}(exchange, ${label}, counted))) return;`,
    ],
  };
}

/** Variables that are known only when the response has ended. */
const AT_THE_END: readonly string[] = ["llm", "response"];

const TYPES = {
  CountedUse: importedType("gwc/runtime/policies/remote-rate-limit/descriptor", "CountedUse"),
  CountedTokens: importedType(MODULE, "CountedTokens"),
};

/** Writes the function `label`, which returns the counted descriptors; `undefined` without descriptors. */
function usesFunction(
  label: string,
  type: keyof typeof TYPES,
  descriptors: readonly Descriptor[],
  scope: RouteScope,
): { readonly declaration: Hole; readonly call: Code } | undefined {
  if (descriptors.length === 0) return undefined;
  const read = descriptors.flatMap(expressionsOf).flatMap(({ variables }) => variables);
  const variables = [...new Set(read)].filter((each) => !AT_THE_END.includes(each)).sort();
  const uses = descriptors.map(
    (each) => code`
      {
        ${membersOf(each, scope)}
      },
    `,
  );
  const passed = variables.map((variable) => scope.variables.argument(variable));
  return {
    declaration: code`
      function ${name(label)}(${join(variables.map(parameter), ", ")}): ${TYPES[type]}[] {
        return [
          ${uses}
        ];
      }
    `,
    call: code`${name(label)}(${join(passed, ", ")})`,
  };
}

function membersOf({ unit, entries, cost, limit }: Descriptor, scope: RouteScope): readonly Hole[] {
  const { expressions } = scope;
  return [
    code`entries: ${headerList(entries, expressions)},`,
    ...(cost === undefined
      ? []
      : [unit === "tokens" ? tokenCost(cost, scope) : valueMember("cost", cost, expressions)]),
    ...(limit === undefined ? [] : [valueMember("limit", limit, expressions)]),
  ];
}

/** Writes a function that is evaluated after the response. */
function tokenCost(cost: CompiledExpression, { expressions }: RouteScope): Code {
  const last = AT_THE_END.findLastIndex((each) => cost.variables.includes(each));
  const parameters = AT_THE_END.slice(0, last + 1).map(name);
  const head = code`(${join(parameters, ", ")}) =>`;
  return code`
    ${comment(cost.source)}
    ${assigned(code`cost: ${head}`, expressions.use(cost.code))},
  `;
}
