import type { PolicySettings } from "../../compiler/ir/policies.ts";
import { code, literal } from "../code/code.ts";
import type { ConnectionPart } from "../code/connection-part.ts";
import { filePath } from "../code/file-path.ts";
import type { Code, Hole, Name } from "../code/hole.ts";
import { capitalized, imported, importedDefault, name } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";
import { bytes, milliseconds, nonEmpty } from "../code/units.ts";
import type { ConnectionScope, PolicyCode, PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/custom";

type Entry = PolicySettings["custom"]["entries"][number];

/** `custom`: for each policy an import, a constant with its options, and a call for each of its hooks. */
export const customTemplate: PolicyTemplate<"custom"> = {
  detail: ({ entries }) => entries.map((entry) => entry.name).join(", "),
  attributes: () => ["custom"],
  code: ({ settings: { entries } }, scope) => {
    const parts = entries.map((entry) => entryCode(entry, scope));
    return {
      declarations: parts.flatMap((part) => part.declarations),
      steps: parts.flatMap((part) => part.steps),
      isAsync: parts.some((part) => part.isAsync === true),
    };
  },
  connection: ({ settings: { entries } }, scope) =>
    entries.map((entry) => connectionPart(entry, scope)),
};

function entryCode(entry: Entry, scope: RouteScope): PolicyCode {
  const { hooks } = entry;
  const hasResults = hooks.toolResult !== undefined || hooks.toolList !== undefined;
  const waitsForBody = [hooks.requestBody, hooks.toolCall].some((hook) => hook !== undefined);
  const label = labelOf(entry);
  const call = (symbol: string, module: string, ...more: readonly Code[]): Code => {
    const identities = identitiesOf(scope);
    const rest = [...more, ...(identities === undefined ? [] : [identities])].map(
      (each) => code`, ${each}`,
    );
    return code`${imported(module, symbol)}(exchange, ${label}${rest})`;
  };
  const steps: Hole[] = [];
  if (hooks.response !== undefined)
    steps.push(code`${call("applyToResponse", `${MODULE}/custom-response`)};`);
  if (hooks.responseStream !== undefined)
    steps.push(code`${call("applyToStream", `${MODULE}/custom-response-stream`)};`);
  const limit = code`${bytes(scope.maxBufferSize)}`;
  if (hooks.responseBody !== undefined)
    steps.push(code`${call("applyToResponseBody", `${MODULE}/custom-response-body`, limit)};`);
  if (hooks.request !== undefined) {
    steps.push(
      hooks.request.isAsync
        ? code`if (!(await ${call("awaitCustom", MODULE)})) return;`
        : code`if (!${call("applyCustom", MODULE)}) return;`,
    );
  }
  if (hooks.requestBody !== undefined)
    steps.push(code`if (!(await ${call("applyToBody", `${MODULE}/custom-body`, limit)})) return;`);
  if ((hooks.prompt ?? hooks.completion) !== undefined)
    steps.push(code`${call("showTexts", `${MODULE}/custom-texts`)};`);
  const reading = { limit: bytes(scope.maxBufferSize), callers: nonEmpty(scope.toolCallers) };
  if (hasResults) {
    const run = call("applyToResults", "gwc/runtime/mcp/custom-results", code`${literal(reading)}`);
    steps.push(code`if (!(await ${run})) return;`);
  }
  if (hooks.toolCall !== undefined) {
    const module = "gwc/runtime/mcp/custom-tool-call";
    const run = call("applyToToolCall", module, code`${literal(reading)}`);
    steps.push(code`if (!(await ${run})) return;`);
  }
  return {
    declarations: [declarationOf(entry, label, scope.trace)],
    steps,
    isAsync: hooks.request?.isAsync === true || waitsForBody || hasResults,
  };
}

/** Writes the policy of a route of connections. */
function connectionPart(entry: Entry, { trace }: ConnectionScope): ConnectionPart {
  const label = labelOf(entry);
  const isAsync = entry.hooks.connect?.isAsync === true;
  const run = imported(
    "gwc/runtime/tcp/custom-connection",
    isAsync ? "awaitConnect" : "applyConnect",
  );
  const call = isAsync
    ? code`(await ${run}(connection, ${label}))`
    : code`${run}(connection, ${label})`;
  return {
    declaration: declarationOf(entry, label, trace),
    step: code`if (!${call}) return;`,
    isAsync,
  };
}

function labelOf({ index }: Entry): Name {
  return name(`customPolicy${index === 0 ? "" : index + 1}`);
}

/** Writes the constant with the options of a policy. */
function declarationOf(
  { name: policyName, options, secrets, deadline, passesOnFailure, sources, origin }: Entry,
  label: Name,
  trace: Trace,
): Code {
  const [{ module = "" } = {}] = sources;
  const policy = importedDefault(`../${module}`, importName(policyName));
  const settings = {
    ...{ name: policyName, options },
    deadline: milliseconds(deadline),
    passesOnFailure,
    secrets: Object.keys(secrets).length === 0 ? undefined : mapValues(secrets, secretCode),
  };
  const open = imported(`${MODULE}/custom-policy`, "openCustomPolicy");
  return code`
    ${trace(origin)}
    const ${label} = ${open}(${policy}, ${literal(settings)});
  `;
}

/** Writes a file whose value an option has. */
function secretCode(file: Entry["secrets"][string]): Code {
  return code`${imported(`${MODULE}/secret-option`, "secretOption")}(${filePath(file)})`;
}

function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Readonly<Record<string, Result>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

/** Identities that earlier policies of the route established, as an object; `undefined` if there are none. */
function identitiesOf({ variables }: RouteScope): Code | undefined {
  const known = ["jwt", "apiKey", "basicAuth"].filter((each) => variables.has(each));
  if (known.length === 0) return undefined;
  return code`${literal(Object.fromEntries(known.map((each) => [each, variables.argument(each)])))}`;
}

/** Returns the name of an imported policy, which differs from the names of `labelOf`. */
function importName(policy: string): string {
  const camelCase = policy
    .replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase())
    .replace(/^(?:\d|$)/, "policy$&");
  return `${/^custom\d*$/.test(camelCase) ? `own${capitalized(camelCase)}` : camelCase}Policy`;
}
