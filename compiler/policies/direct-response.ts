import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import {
  checkHeaderName,
  headerMapSchema,
  headerNameSchema,
  readHeaders,
  resolveHeader,
} from "../backends/parts/header-fields.ts";
import { resolveOfRequest } from "../backends/parts/known-identities.ts";
import { checkLiteral } from "../backends/parts/literal-templates.ts";
import { type NamedNode, resolveExpressions } from "../backends/parts/named-expressions.ts";
import { isWrittenExpression } from "../cel/written-expression.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression, NamedExpression } from "../model/expressions.ts";
import type { HeaderField } from "../model/header-changes.ts";
import type { Text } from "../model/texts.ts";
import {
  expression,
  type Infer,
  integer,
  list,
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
import { bodyExpression } from "./transformations/message-transform.ts";

/** A response, as configured. */
interface ResponseConfig {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly computedHeaders: readonly NamedExpression[];
  readonly body: string | ExpressionConfig;
  readonly origin: Origin;
}

/** A response, resolved. */
interface ResponseNode {
  readonly status: number;
  /** Names and values alternating, in the order in which they are sent. */
  readonly headers: readonly Text[];
  readonly computedHeaders: readonly NamedNode[];
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

const contentProperties = {
  status: integer("The status.", 200, 599),
  body: text(
    "The body, with the content type text/plain unless `headers` sets another; empty by default.",
    {
      maxLength: 4096,
    },
  ),
  bodyExpression,
};

const responseProperties = {
  ...contentProperties,
  headers: headerMapSchema(
    "Response headers. A value is a CEL expression if it has a quoted string, a field of a variable or a function (`\"'blue'\"`, `request.path`), otherwise plain text (`text/html`). A header whose expression fails is omitted.",
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
  {
    ...contentProperties,
    headers: list(
      object(
        {
          name: headerNameSchema,
          value: expression("CEL expression for the value; the header is omitted if it fails."),
        },
        { required: ["name", "value"] },
      ),
      { minItems: 1, maxItems: 16, description: "Response headers." },
    ),
  },
  { required: ["status"], atMostOneOf: ["body", "bodyExpression"] },
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
  traits: {
    actsOn: ["requests"],
    isTerminal: ({ cases }) => cases.some(({ condition }) => condition === undefined),
    ends: ({ cases }) =>
      cases.map(({ condition, value: { status } }) => ({ condition, isRefusal: status >= 400 })),
  },
  schema,
  names: ["responseBody", "ownHeaders"],
  lowering: {
    merge: "replace",
    lower: (value, origin) => ({ cases: lowerCases(value, origin, lowerFileResponse) }),
    resolve: ({ cases }, context) => {
      const resolved = resolveCases(cases, context, (response) =>
        resolveResponse(response, context),
      );
      return resolved && { cases: resolved };
    },
  },
  kubernetes: {
    field: "traffic.directResponse",
    schema: kubernetesSchema,
    lower: (value, { origin }) => {
      const computedHeaders = (value.headers ?? []).map(({ name, value: text }, index) => ({
        name,
        text,
        origin: childOf(origin, "headers", index, "value"),
      }));
      const response = { ...lowerResponse(value, origin), headers: [], computedHeaders };
      return { cases: [{ condition: undefined, value: response, origin }] };
    },
    ofConditions: joinCases,
  },
};

function lowerFileResponse(given: Partial<ResponseValue>, origin: Origin): ResponseConfig {
  const fields = readHeaders(given.headers, childOf(origin, "headers"));
  const computedHeaders = fields.flatMap(({ name, value, valueOrigin }) =>
    typeof value === "string" && isWrittenExpression(value, "request")
      ? [{ name, text: value, origin: valueOrigin }]
      : [],
  );
  const headers = fields.filter(
    ({ valueOrigin }) => !computedHeaders.some((each) => each.origin === valueOrigin),
  );
  return { ...lowerResponse(given, origin), headers, computedHeaders };
}

function lowerResponse(
  { status = 200, body = "", bodyExpression }: Partial<Omit<ResponseValue, "headers">>,
  origin: Origin,
): Omit<ResponseConfig, "headers" | "computedHeaders"> {
  if (bodyExpression === undefined) return { status, body, origin };
  return {
    status,
    body: { text: bodyExpression, origin: childOf(origin, "bodyExpression") },
    origin,
  };
}

function resolveResponse(
  { status, body, origin, ...given }: ResponseConfig,
  context: ResolveContext,
): ResponseNode | undefined {
  const headers = resolveHeaders(given, context);
  if (headers === undefined) return undefined;
  if (body !== "" && (status === 204 || status === 304)) {
    const field = typeof body === "string" ? "body" : "bodyExpression";
    context.diagnostics.report("body-not-allowed", childOf(origin, field), { status });
    return undefined;
  }
  if (typeof body === "string") {
    checkLiteral(body, "body", childOf(origin, "body"), context.diagnostics);
    const typed = body === "" ? headers : withType(headers, PLAIN_TEXT);
    return { status, ...typed, body, origin };
  }
  const options = { phase: "request", slot: "value" } as const;
  const made = resolveOfRequest(body, options, context);
  if (made === undefined) return undefined;
  const isText = ["string", "bytes", "dyn"].includes(made.type);
  const typed = withType(headers, isText ? PLAIN_TEXT : "application/json");
  return { status, ...typed, body: made, origin };
}

type ResponseHeaders = Pick<ResponseNode, "headers" | "computedHeaders">;

/** Returns `undefined` if one of the headers is invalid (reported). */
function resolveHeaders(
  { headers, computedHeaders }: Pick<ResponseConfig, "headers" | "computedHeaders">,
  context: ResolveContext,
): ResponseHeaders | undefined {
  const fields = headers.flatMap((field) => resolveHeader(field, context) ?? []);
  const named = computedHeaders.filter(({ name, origin }) =>
    checkHeaderName(name, origin, context),
  );
  const computed = resolveExpressions(
    named.map((each) => ({ ...each, name: each.name.toLowerCase() })),
    "request",
    context,
  );
  const isComplete = fields.length === headers.length && named.length === computedHeaders.length;
  if (computed === undefined || !isComplete) return undefined;
  return {
    headers: fields.flatMap(({ name, value }) => [name.toLowerCase(), value]),
    computedHeaders: computed,
  };
}

/** Adds the content type unless the headers set it. */
function withType({ headers, computedHeaders }: ResponseHeaders, type: string): ResponseHeaders {
  const isTyped =
    headers.includes("content-type") || computedHeaders.some(({ name }) => name === "content-type");
  return { headers: isTyped ? headers : [...headers, "content-type", type], computedHeaders };
}

const PLAIN_TEXT = "text/plain; charset=utf-8";
