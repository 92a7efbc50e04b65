import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import { HEADER_CHANGES } from "../../backends/parts/header-changes.ts";
import { checkHeaderName } from "../../backends/parts/header-fields.ts";
import { resolveOfRequest } from "../../backends/parts/known-identities.ts";
import { type NamedNode, resolveOmissible } from "../../backends/parts/named-expressions.ts";
import type { CelPhase } from "../../cel/compile.ts";
import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";
import { expression, type Infer, list, map, object, shortText } from "../../schema/schema.ts";
import { bothForms } from "../../schema/two-forms.ts";
import type { ResolveContext } from "../policy.ts";

/** Changes to a message, as configured; names as written, including pseudo-headers. */
export interface TransformConfig {
  readonly metadata: readonly NamedExpression[];
  readonly replace: ExpressionConfig | undefined;
  readonly add: readonly NamedExpression[];
  readonly set: readonly NamedExpression[];
  readonly remove: readonly { readonly name: string; readonly origin: Origin }[];
  readonly body: ExpressionConfig | undefined;
}

/** Changes to a message, compiled: header names in lower case, pseudo-headers separate. */
export interface TransformNode {
  /** Values that later expressions read as `metadata`. */
  readonly metadata: readonly NamedNode[];
  /** Map of headers that replaces all headers. */
  readonly replace: CompiledExpression | undefined;
  readonly add: readonly NamedNode[];
  readonly set: readonly NamedNode[];
  readonly remove: readonly string[];
  /** Pseudo-headers without the colon: `method`, `path`, `authority`, `scheme`; of a response, `status`. */
  readonly pseudo: readonly NamedNode[];
  readonly body: CompiledExpression | undefined;
  readonly origin: Origin;
}

type Side = CelPhase & ("request" | "response");

/** The specification's HeaderName: pseudo-headers start with a colon. */
const transformedName = bothForms(
  shortText("The header's name.", { pattern: "^:?[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$" }),
  { file: { form: "a header name" } },
);

/** Schema of a body that an expression computes. */
export const bodyExpression = expression(
  "CEL expression for the body: a string, bytes, or any other value as JSON.",
);

const REMOVED = { minItems: 1, maxItems: 16, description: "Headers to remove." };

const valuesSchema = (description: string) =>
  map(expression("CEL expression for the value."), {
    minProperties: 1,
    maxProperties: 16,
    description,
  });

const metadataSchema = valuesSchema(
  "Values that later expressions read as `metadata.NAME`; one whose expression fails is omitted.",
);

/** Returns the schema of one side in a file; `pseudo` describes its pseudo-headers. */
export function transformSchema(pseudo: string, description: string) {
  return object(
    {
      metadata: metadataSchema,
      replace: expression(
        "Replacement for all headers: a map of names to strings or lists of strings. If the expression fails, a request loses its headers, and a response keeps them.",
      ),
      add: valuesSchema(
        "Headers to add to existing ones of the same name; one whose expression fails is omitted. On a request, an invalid value removes the existing ones.",
      ),
      set: valuesSchema(
        `Headers to set in place of existing ones of the same name, and ${pseudo}. If an expression fails, the header is removed.`,
      ),
      remove: list(transformedName.file, REMOVED),
      body: bodyExpression,
    },
    {
      atLeastOneOf: ["metadata", "replace", "add", "set", "remove", "body"],
      misplacedFieldHints: { headers: "write set: { NAME: EXPRESSION }" },
      description,
    },
  );
}

const transformedHeaders = (description: string) =>
  list(
    object(
      { name: transformedName.manifest, value: expression("The value.") },
      { required: ["name", "value"] },
    ),
    { minItems: 1, maxItems: 16, description },
  );

/** Schema of the specification's `Transform`: lists of names and values. */
export const kubernetesTransformSchema = object(
  {
    metadata: metadataSchema,
    set: transformedHeaders(HEADER_CHANGES.set),
    add: transformedHeaders(HEADER_CHANGES.add),
    remove: list(transformedName.manifest, REMOVED),
    body: bodyExpression,
  },
  {
    atLeastOneOf: ["metadata", "set", "add", "remove", "body"],
    description: "Changes to the message, by CEL expressions.",
  },
);

/** One validated side of a file. */
export type TransformValue = Infer<ReturnType<typeof transformSchema>>;

/** Reads one side of a file. */
export function lowerTransform(given: TransformValue, origin: Origin): TransformConfig {
  const named = (key: "metadata" | "add" | "set"): readonly NamedExpression[] =>
    Object.entries(given[key] ?? {}).map(([name, each]) => ({
      name,
      text: each,
      origin: childOf(origin, key, name),
    }));
  const single = (key: "replace" | "body"): ExpressionConfig | undefined => {
    const found = given[key];
    return found === undefined ? undefined : { text: found, origin: childOf(origin, key) };
  };
  return {
    metadata: named("metadata"),
    replace: single("replace"),
    add: named("add"),
    set: named("set"),
    remove: (given.remove ?? []).map((name, index) => ({
      name,
      origin: childOf(origin, "remove", index),
    })),
    body: single("body"),
  };
}

/** Reads one side of a manifest. */
export function lowerKubernetesTransform(
  { add = [], set = [], ...rest }: Infer<typeof kubernetesTransformSchema>,
  origin: Origin,
): TransformConfig {
  const named = (key: "add" | "set", all: typeof add): readonly NamedExpression[] =>
    all.map(({ name, value }, index) => ({
      name,
      text: value,
      origin: childOf(origin, key, index, "value"),
    }));
  return {
    ...lowerTransform(rest, origin),
    add: named("add", add),
    set: named("set", set),
  };
}

/** Pseudo-headers of each side (RFC 9113 8.3). */
const PSEUDO: Readonly<Record<Side, readonly string[]>> = {
  request: [":method", ":path", ":authority", ":scheme"],
  response: [":status"],
};

/** Compiles one side; returns `undefined` if a mistake was reported. */
export function resolveTransform(
  config: TransformConfig,
  side: Side,
  context: ResolveContext,
): TransformNode | undefined {
  const { add, set, remove, metadata, replace, body } = config;
  const isHeader = ({ name }: { readonly name: string }): boolean => !name.startsWith(":");
  const areValid = [
    ...checkPseudo(config, side, context),
    ...[...add, ...set, ...remove]
      .filter(isHeader)
      .map(({ name, origin }) => checkHeaderName(name, origin, context)),
    isEnforced(config, side, context),
  ];
  let failed = areValid.includes(false);
  const compile = (each: ExpressionConfig): readonly CompiledExpression[] => {
    const options = { phase: side, slot: "value" } as const;
    const found = resolveOfRequest(each, options, context);
    failed ||= found === undefined;
    return found === undefined ? [] : [found];
  };
  const compileAll = (all: readonly NamedExpression[]): readonly NamedNode[] =>
    all.flatMap((each) => compile(each).map((value) => ({ name: each.name, value })));
  const omissible = (all: readonly NamedExpression[]): readonly NamedNode[] => {
    const found = resolveOmissible(all, side, context);
    failed ||= found === undefined;
    return found ?? [];
  };
  const lowered = (all: readonly NamedExpression[]): readonly NamedExpression[] =>
    all.map((each) => ({ ...each, name: each.name.toLowerCase() }));
  const headers = lowered(set.filter(isHeader));
  const setHeaders = omissible(headers);
  // A header whose expression fails is removed.
  const lost = headers.filter(({ name }) => setHeaders.every((each) => each.name !== name));
  // A pseudo-header has a single value, so adding it means setting it.
  const pseudo = [...add, ...set].filter((each) => !isHeader(each));
  const node: TransformNode = {
    metadata: omissible(metadata),
    replace: replace && compile(replace)[0],
    add: omissible(lowered(add.filter(isHeader))),
    set: setHeaders,
    remove: [...remove, ...lost].map(({ name }) => name.toLowerCase()),
    pseudo: compileAll(pseudo.map((each) => ({ ...each, name: each.name.slice(1) }))),
    body: body && compile(body)[0],
    origin: childOf(context.origin, side),
  };
  return failed ? undefined : node;
}

function checkPseudo(
  { add, set, remove }: TransformConfig,
  side: Side,
  { diagnostics, isOnBackend }: ResolveContext,
): readonly boolean[] {
  // The backend's own address determines the scheme.
  const known = PSEUDO[side].filter((name) => isOnBackend !== true || name !== ":scheme");
  const seen = new Set<string>();
  const changes = [...add, ...set].map((each) => ({ ...each, isRemoved: false }));
  const removals = remove.map((each) => ({ ...each, isRemoved: true }));
  return [...changes, ...removals].map(({ name, origin, isRemoved }) => {
    if (!name.startsWith(":")) return true;
    const isKnown = known.includes(name);
    if (!isKnown || isRemoved) {
      diagnostics.report("pseudo-header", keyPlace(origin), { name, side, known, isRemoved });
      return false;
    }
    if (seen.has(name)) diagnostics.report("header-conflict", keyPlace(origin), { name });
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst;
  });
}

/** Reports changes of the request line that an MCP endpoint cannot apply: it calls its servers with its own requests. */
function isEnforced(
  { add, set }: TransformConfig,
  side: Side,
  { phase, route, diagnostics }: ResolveContext,
): boolean {
  if (route.protocol !== "mcp" || phase === "PreRouting" || side === "response") return true;
  const pseudo = [...add, ...set].find(({ name }) => name.startsWith(":"));
  if (pseudo === undefined) return true;
  diagnostics.report("needs-host-backend", keyPlace(pseudo.origin), { policy: pseudo.name });
  return false;
}
