import type { PolicySettings } from "../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, comment, join, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, Hole, Name } from "../code/hole.ts";
import { assigned } from "../code/layout.ts";
import { imported, importedType, name } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { listExpression } from "../code/syntax.ts";
import { bytes } from "../code/units.ts";
import { parameter } from "../code/variables.ts";
import { casesCode } from "./parts/cases.ts";
import type { PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/transformations";
const CHANGES = "gwc/runtime/policies/transformations/message-changes";

/** `transformations`: what becomes of a message as a function of what it is, and the statements that do it. */
export const transformationsTemplate: PolicyTemplate<"transformations"> = {
  attributes: ({ cases }) =>
    sidesOf(cases).some(({ metadata }) => metadata.length > 0) ? ["metadata"] : [],
  code: ({ settings: { cases } }, scope) => {
    const all = sidesOf(cases).flatMap(expressionsOf);
    const made = casesCode(cases, "isTransformed", scope, ({ request, response }, suffix) => {
      const parts = [
        ...(request === undefined ? [] : [requestCode(request, suffix, scope)]),
        ...(response === undefined ? [] : [responseCode(response, suffix, scope)]),
      ];
      return {
        declarations: parts.flatMap((part) => part.declarations),
        steps: parts.flatMap((part) => part.steps),
      };
    });
    return { ...made, readsRequestBody: made.readsRequestBody || readsBody(all, "request") };
  },
};

type Transform = NonNullable<
  PolicySettings["transformations"]["cases"][number]["value"]["request"]
>;

/** The changes to requests and responses, of all cases. */
function sidesOf(cases: PolicySettings["transformations"]["cases"]): readonly Transform[] {
  return cases.flatMap(({ value: { request, response } }) =>
    [request ?? [], response ?? []].flat(),
  );
}

interface SideCode {
  readonly declarations: readonly Hole[];
  readonly steps: readonly Hole[];
}

function requestCode(transform: Transform, suffix: string, scope: RouteScope): SideCode {
  const metadata = metadataFunction(`requestMetadata${suffix}`, transform, scope);
  const label = `requestChanges${suffix}`;
  const changes = changesFunction(label, "RequestChanges", transform, scope);
  const run = scope.phase === "PreRouting" ? "transformBeforeRouting" : "transformRequest";
  const hasChanges = expressionsOf({ ...transform, metadata: [] }).length + transform.remove.length;
  return {
    declarations: [
      ...metadata.map(({ declaration }) => declaration),
      ...(hasChanges === 0 ? [] : [changes.declaration]),
    ],
    steps: [
      ...metadata.map(addMetadata),
      ...(hasChanges === 0 ? [] : [code`${imported(MODULE, run)}(exchange, ${changes.call});`]),
    ],
  };
}

function responseCode(transform: Transform, suffix: string, scope: RouteScope): SideCode {
  const metadata = metadataFunction(`responseMetadata${suffix}`, transform, scope);
  const changes = changesFunction(`responseChanges${suffix}`, "ResponseChanges", transform, scope);
  const declarations = [...metadata, changes].map(({ declaration }) => declaration);
  const made = asTransform(changes, metadata);
  const isWhole = readsBody(expressionsOf(transform), "response");
  const run = imported(MODULE, isWhole ? "transformWholeResponse" : "transformResponse");
  const limit = isWhole ? code`, ${bytes(scope.maxBufferSize)}` : [];
  return { declarations, steps: [code`${run}(exchange, ${made}${limit});`] };
}

/** The function of a response: it, or one that passes on what the route holds. */
function asTransform(
  { label, variables, call }: ChangesFunction,
  metadata: readonly ChangesFunction[],
): Code {
  const isRead = [variables, ...metadata.map((each) => each.variables)].flat().includes("response");
  const head = isRead ? code`(response) =>` : code`() =>`;
  if (metadata.length > 0) {
    return code`
      ${head} {
        ${metadata.map(addMetadata)}
        return ${call};
      }
    `;
  }
  if (variables.every((variable) => variable === "response")) return code`${label}`;
  return code`${head} ${call}`;
}

function addMetadata({ call }: ChangesFunction): Code {
  return code`${imported(MODULE, "addMetadata")}(exchange, ${call});`;
}

function expressionsOf({
  metadata,
  replace,
  add,
  set,
  pseudo,
  body,
}: Transform): readonly CompiledExpression[] {
  const values = [...metadata, ...add, ...set, ...pseudo].map(({ value }) => value);
  return [
    ...values,
    ...(replace === undefined ? [] : [replace]),
    ...(body === undefined ? [] : [body]),
  ];
}

interface ChangesFunction {
  readonly label: Name;
  readonly declaration: Code;
  readonly call: Code;
  readonly variables: readonly string[];
}

/** The values that later expressions read; nothing when there are none. */
function metadataFunction(
  label: string,
  { metadata, origin }: Transform,
  scope: RouteScope,
): readonly ChangesFunction[] {
  if (metadata.length === 0) return [];
  const members = metadata.map(
    ({ name: key, value }) => code`
      ${comment(value.source)}
      ${assigned(code`${propertyKey(key)}:`, scope.expressions.use(value.code))},
    `,
  );
  const result = importedType("gwc/runtime/cel/variables", "JsonObject");
  const values = metadata.map(({ value }) => value);
  return [objectFunction(label, code`${result}`, values, members, origin, scope)];
}

/** Quoted keys are computed ones: `__proto__` is a name like any other. */
function propertyKey(key: string): Hole {
  const isPlain = /^[A-Za-z_$][\w$]*$/.test(key) && key !== "__proto__";
  return isPlain ? name(key) : code`[${literal(key)}]`;
}

function changesFunction(
  label: string,
  type: string,
  transform: Transform,
  scope: RouteScope,
): ChangesFunction {
  const { replace, add, set, remove, pseudo, body, origin } = transform;
  const { expressions } = scope;
  const members: Hole[] = [
    ...(replace === undefined ? [] : [member("replace", replace, expressions)]),
    code`add: ${headerList(add, expressions)},`,
    code`set: ${headerList(set, expressions)},`,
    code`remove: ${literal(remove)},`,
    ...pseudo.map(({ name: each, value }) => member(each, value, expressions)),
    ...(body === undefined ? [] : [member("body", body, expressions)]),
  ];
  const read = expressionsOf({ ...transform, metadata: [] });
  return objectFunction(label, code`${importedType(CHANGES, type)}`, read, members, origin, scope);
}

/** A function of the module that gives an object, made of what the expressions read. */
function objectFunction(
  label: string,
  type: Code,
  read: readonly CompiledExpression[],
  members: readonly Hole[],
  origin: Transform["origin"],
  { trace, variables: scope }: RouteScope,
): ChangesFunction {
  const variables = [...new Set(read.flatMap((each) => each.variables))].sort();
  const passed = variables.map((variable) => scope.argument(variable));
  return {
    declaration: code`
      ${trace(origin)}
      function ${name(label)}(${join(variables.map(parameter), ", ")}): ${type} {
        return {
          ${members}
        };
      }
    `,
    call: code`${name(label)}(${join(passed, ", ")})`,
    label: name(label),
    variables,
  };
}

function member(label: string, value: CompiledExpression, expressions: Expressions): Code {
  return code`
    ${comment(value.source)}
    ${assigned(code`${name(label)}:`, expressions.use(value.code))},
  `;
}

function headerList(headers: Transform["add"], expressions: Expressions): Code {
  if (headers.length === 0) return code`[]`;
  const entries = headers.map(
    ({ name: header, value }) => code`
      ${comment(value.source)}
      ${listExpression([literal(header), expressions.use(value.code)])},
    `,
  );
  return code`
    [
      ${entries}
    ]
  `;
}
