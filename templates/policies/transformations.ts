import type { PolicySettings, PolicyUse } from "../../compiler/ir/policies.ts";
import type { CompiledExpression } from "../../compiler/model/expressions.ts";
import { code, literal } from "../code/code.ts";
import { headerList } from "../code/header-list.ts";
import type { Code, Hole } from "../code/hole.ts";
import { imported, importedType } from "../code/names.ts";
import { readsBody } from "../code/reads.ts";
import { bytes } from "../code/units.ts";
import { casesCode } from "./parts/cases.ts";
import {
  type ObjectFunction,
  objectFunction,
  valueMember,
  valuesFunction,
} from "./parts/object-function.ts";
import type { OwnMessages, PolicyTemplate, RouteScope } from "./policy.ts";

const MODULE = "gwc/runtime/policies/transformations";
const CHANGES = "gwc/runtime/policies/transformations/message-changes";

/** `transformations`: a function that returns the changes of a message, and the statements that apply them. */
export const transformationsTemplate: PolicyTemplate<"transformations"> = {
  attributes: ({ cases }) =>
    sidesOf(cases).some(({ metadata }) => metadata.length > 0) ? ["metadata"] : [],
  onBackend,
  backendReads: ({ cases }) =>
    sidesOf(cases)
      .flatMap(expressionsOf)
      .flatMap(({ variables }) => variables),
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

/** Writes changes to the messages of one backend, as functions in the settings of its connections. */
function onBackend(
  { settings: { cases } }: PolicyUse<"transformations">,
  suffix: string,
  scope: RouteScope,
): OwnMessages {
  const { request, response } = cases[0]?.value ?? {};
  const asked =
    request && changesFunction(`backendRequestChanges${suffix}`, "RequestChanges", request, scope);
  const given =
    response &&
    changesFunction(`backendResponseChanges${suffix}`, "ResponseChanges", response, scope);
  const isWhole = response !== undefined && readsBody(expressionsOf(response), "response");
  const changes = {
    ...(asked && { request: ofVariables(asked, "request") }),
    ...(given && { response: ofVariables(given, "response") }),
    ...(isWhole && { wholeResponse: bytes(scope.maxBufferSize) }),
  };
  const change = imported(`${MODULE}/changed-messages`, "changedMessages");
  return {
    declarations: [asked ?? [], given ?? []].flat().map(({ declaration }) => declaration),
    settings: { messages: code`${change}(${literal(changes)})` },
    readsRequestBody: readsBody(
      [request ?? [], response ?? []].flat().flatMap(expressionsOf),
      "request",
    ),
  };
}

/**
 * Passes a function of a message as a setting: itself if it reads only that, otherwise one that passes the other
 * variables.
 */
function ofVariables(
  { label, variables, call }: ObjectFunction,
  message: "request" | "response",
): Code {
  if (variables.every((variable) => variable === message)) return code`${label}`;
  if (message === "request") return code`(exchange) => ${call}`;
  return variables.includes(message)
    ? code`(response, exchange) => ${call}`
    : code`(_, exchange) => ${call}`;
}

type Transform = NonNullable<
  PolicySettings["transformations"]["cases"][number]["value"]["request"]
>;

/** Returns the changes to requests and responses of all cases. */
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
  const metadata = metadataOf(`requestMetadata${suffix}`, transform, scope);
  const label = `requestChanges${suffix}`;
  const changes = changesFunction(label, "RequestChanges", transform, scope);
  const run = scope.phase === "PreRouting" ? "transformBeforeRouting" : "transformRequest";
  const call = code`${imported(MODULE, run)}(exchange, ${changes.call})`;
  // Only a change of the request line can fail, so others need no check.
  const changed = transform.pseudo.length === 0 ? code`${call};` : code`if (!${call}) return;`;
  const hasChanges = expressionsOf({ ...transform, metadata: [] }).length + transform.remove.length;
  return {
    declarations: [
      ...metadata.map(({ declaration }) => declaration),
      ...(hasChanges === 0 ? [] : [changes.declaration]),
    ],
    steps: [...metadata.map(addMetadata), ...(hasChanges === 0 ? [] : [changed])],
  };
}

function responseCode(transform: Transform, suffix: string, scope: RouteScope): SideCode {
  const metadata = metadataOf(`responseMetadata${suffix}`, transform, scope);
  const changes = changesFunction(`responseChanges${suffix}`, "ResponseChanges", transform, scope);
  const declarations = [...metadata, changes].map(({ declaration }) => declaration);
  const made = asTransform(changes, metadata);
  const isWhole = readsBody(expressionsOf(transform), "response");
  const run = imported(MODULE, isWhole ? "transformWholeResponse" : "transformResponse");
  const limit = isWhole ? code`, ${bytes(scope.maxBufferSize)}` : [];
  return { declarations, steps: [code`${run}(exchange, ${made}${limit});`] };
}

/** Passes the function of a response: itself, or one that passes variables of the route. */
function asTransform(
  { label, variables, call }: ObjectFunction,
  metadata: readonly ObjectFunction[],
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

function addMetadata({ call }: ObjectFunction): Code {
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

function changesFunction(
  label: string,
  type: string,
  transform: Transform,
  scope: RouteScope,
): ObjectFunction {
  const { replace, add, set, remove, pseudo, body, origin } = transform;
  const { expressions } = scope;
  const members: Hole[] = [
    ...(replace === undefined ? [] : [valueMember("replace", replace, expressions)]),
    ...(add.length === 0 ? [] : [code`add: ${headerList(add, expressions)},`]),
    ...(set.length === 0 ? [] : [code`set: ${headerList(set, expressions)},`]),
    ...(remove.length === 0 ? [] : [code`remove: ${literal(remove)},`]),
    ...pseudo.map(({ name: each, value }) => valueMember(each, value, expressions)),
    ...(body === undefined ? [] : [valueMember("body", body, expressions)]),
  ];
  const read = expressionsOf({ ...transform, metadata: [] });
  return objectFunction(label, code`${importedType(CHANGES, type)}`, read, members, origin, scope);
}

/** Writes the values that later expressions read, if the case sets metadata. */
function metadataOf(
  label: string,
  { metadata, origin }: Transform,
  scope: RouteScope,
): readonly ObjectFunction[] {
  const made = valuesFunction(label, metadata, origin, scope);
  return made === undefined ? [] : [made];
}
