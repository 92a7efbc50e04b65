import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import { headerMapSchema, readHeaders, resolveHeader } from "../backends/parts/header-fields.ts";
import { resolveOfRequest } from "../backends/parts/known-identities.ts";
import { checkLiteral } from "../backends/parts/literal-templates.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { HeaderField } from "../model/header-changes.ts";
import type { Text } from "../model/texts.ts";
import {
  expression,
  type Infer,
  integer,
  type ObjectValue,
  object,
  text,
} from "../schema/schema.ts";
import type { CaseConfig } from "./parts/case-config.ts";
import {
  type CaseNode,
  conditionalSchema,
  joinCases,
  lowerCases,
  resolveCases,
} from "./parts/conditions.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** A response, as configured. */
interface ResponseConfig {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly body: string | ExpressionConfig;
  readonly origin: Origin;
}

/** A response, resolved. */
interface ResponseNode {
  readonly status: number;
  /** Names and values alternating, in the order in which they are sent. */
  readonly headers: readonly Text[];
  readonly body: string | CompiledExpression;
  readonly origin: Origin;
}

/** `directResponse` as configured. */
interface DirectResponseConfig {
  readonly cases: readonly CaseConfig<ResponseConfig>[];
}

/** `directResponse` resolved. */
interface DirectResponseNode {
  readonly cases: readonly CaseNode<ResponseNode>[];
}

const responseProperties = {
  status: integer("The status.", 200, 599),
  headers: headerMapSchema("Response headers."),
  body: text(
    "The body, with the content type text/plain unless `headers` sets another; empty by default.",
    {
      maxLength: 4096,
    },
  ),
  bodyExpression: expression(
    "CEL expression for the body: a string, bytes, or any other value as JSON.",
  ),
};

type ResponseValue = ObjectValue<typeof responseProperties, never>;

const schema = object(
  {
    ...responseProperties,
    conditional: conditionalSchema(
      object(responseProperties, {
        required: ["status"],
        atMostOneOf: ["body", "bodyExpression"],
      }),
    ),
  },
  {
    exactlyOneOf: ["status", "conditional"],
    atMostOneOf: ["body", "bodyExpression", "conditional"],
    description: "Responds without a backend.",
  },
);

const kubernetesSchema = object(
  { status: integer("The status.", 200, 599), body: text("The body.", { maxLength: 4096 }) },
  { required: ["status"] },
);

/** Responds from the gateway itself. */
export const directResponse: Policy<
  "directResponse",
  DirectResponseConfig,
  DirectResponseNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "directResponse",
  summary: "responds with a status, headers and a body; the route needs no backend",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  isTerminal: ({ cases }) => cases.some(({ condition }) => condition === undefined),
  schema,
  names: ["responseBody"],
  ends: ({ cases }) =>
    cases.map(({ condition, value: { status } }) => ({ condition, isRefusal: status >= 400 })),
  merge: "replace",
  lower: (value, origin) => ({ cases: lowerCases(value, origin, lowerResponse) }),
  kubernetes: {
    field: "traffic.directResponse",
    schema: kubernetesSchema,
    lower: (value, { origin }) => ({
      cases: [{ condition: undefined, value: lowerResponse(value, origin), origin }],
    }),
    ofConditions: joinCases,
  },
  resolve: ({ cases }, context) => {
    const resolved = resolveCases(cases, context, (response) => resolveResponse(response, context));
    return resolved && { cases: resolved };
  },
};

function lowerResponse(given: Partial<ResponseValue>, origin: Origin): ResponseConfig {
  const { status = 200, bodyExpression } = given;
  const headers = readHeaders(given.headers, childOf(origin, "headers"));
  const body =
    bodyExpression === undefined
      ? (given.body ?? "")
      : { text: bodyExpression, origin: childOf(origin, "bodyExpression") };
  return { status, headers, body, origin };
}

function resolveResponse(
  { status, headers, body, origin }: ResponseConfig,
  context: ResolveContext,
): ResponseNode | undefined {
  const fields = headers.flatMap((field) => resolveHeader(field, context) ?? []);
  if (fields.length < headers.length) return undefined;
  if (body !== "" && (status === 204 || status === 304)) {
    const field = typeof body === "string" ? "body" : "bodyExpression";
    context.diagnostics.report("body-not-allowed", childOf(origin, field), { status });
    return undefined;
  }
  const list = fields.flatMap(({ name, value }) => [name.toLowerCase(), value]);
  const typed = (type: string): readonly Text[] =>
    list.includes("content-type") ? list : [...list, "content-type", type];
  if (typeof body === "string") {
    checkLiteral(body, "body", childOf(origin, "body"), context.diagnostics);
    return { status, headers: body === "" ? list : typed(PLAIN_TEXT), body, origin };
  }
  const options = { phase: "request", slot: "value" } as const;
  const made = resolveOfRequest(body, options, context);
  if (made === undefined) return undefined;
  const isText = ["string", "bytes", "dyn"].includes(made.type);
  return { status, headers: typed(isText ? PLAIN_TEXT : "application/json"), body: made, origin };
}

const PLAIN_TEXT = "text/plain; charset=utf-8";
