import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import { checkHeaderName } from "../../backends/parts/header-fields.ts";
import { resolveOfRequest } from "../../backends/parts/known-identities.ts";
import type { NamedNode } from "../../backends/parts/named-expressions.ts";
import type { CelPhase } from "../../cel/compile.ts";
import { childOf, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { CompiledExpression, NamedExpression } from "../../model/expressions.ts";
import { expression, type Infer, list, map, object, shortText } from "../../schema/schema.ts";
import type { ResolveContext } from "../policy.ts";

/** Changes to a message as configured. Names as written, pseudo headers among them. */
export interface TransformConfig {
  readonly metadata: readonly NamedExpression[];
  readonly replace: ExpressionConfig | undefined;
  readonly add: readonly NamedExpression[];
  readonly set: readonly NamedExpression[];
  readonly remove: readonly { readonly name: string; readonly origin: Origin }[];
  readonly body: ExpressionConfig | undefined;
}

/** Changes to a message, compiled: header names in lower case, pseudo headers apart. */
export interface TransformNode {
  /** What later expressions read as `metadata`. */
  readonly metadata: readonly NamedNode[];
  /** A map of headers in the place of all there are. */
  readonly replace: CompiledExpression | undefined;
  readonly add: readonly NamedNode[];
  readonly set: readonly NamedNode[];
  readonly remove: readonly string[];
  /** `method`, `path`, `authority`, `scheme`; of a response `status`. */
  readonly pseudo: readonly NamedNode[];
  readonly body: CompiledExpression | undefined;
  readonly origin: Origin;
}

type Side = CelPhase & ("request" | "response");

/** HeaderName of the specification. */
const HEADER_NAME = "^:?[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$";

const valuesSchema = (description: string) =>
  map(expression("A CEL expression: the value."), {
    minProperties: 1,
    maxProperties: 16,
    description,
  });

/** The shape of one side in the file; `pseudo` says which pseudo headers it has. */
export function transformSchema(pseudo: string, description: string) {
  return object(
    {
      metadata: valuesSchema(
        "Values that later expressions read as `metadata.NAME`; one that fails is left out.",
      ),
      replace: expression(
        "All headers anew: a map of names to texts or lists of texts. One that fails removes those of a request, and leaves those of a response.",
      ),
      add: valuesSchema(
        "Headers that are added to those of their name; one that fails is left out. A value that no header can have removes those of a request.",
      ),
      set: valuesSchema(
        `Headers that replace all of their name, and ${pseudo}; one that fails removes them.`,
      ),
      remove: list(shortText("A header name.", { pattern: HEADER_NAME, form: "a header name" }), {
        minItems: 1,
        maxItems: 16,
        description: "Headers that are removed.",
      }),
      body: expression("The body: text, bytes, or anything else as JSON."),
    },
    {
      atLeastOneOf: ["metadata", "replace", "add", "set", "remove", "body"],
      misplacedFieldHints: { headers: "write set: { NAME: EXPRESSION }" },
      description,
    },
  );
}

/** `HeaderName` of the specification: pseudo headers start with a colon. */
const transformedName = shortText("The header's name.", {
  pattern: "^:?[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$",
});

const transformedHeaders = (description: string) =>
  list(
    object(
      { name: transformedName, value: expression("The value.") },
      { required: ["name", "value"] },
    ),
    { minItems: 1, maxItems: 16, description },
  );

/** `Transform` of the specification: lists of names and values. */
export const kubernetesTransformSchema = object(
  {
    set: transformedHeaders("Headers that replace what is there."),
    add: transformedHeaders("Headers that are appended."),
    remove: list(transformedName, {
      minItems: 1,
      maxItems: 16,
      description: "Headers that are taken out.",
    }),
    body: expression("The new body."),
  },
  {
    atLeastOneOf: ["set", "add", "remove", "body"],
    description: "What is changed, by expressions over the message.",
  },
);

/** One side of a file, validated. */
export type TransformValue = Infer<ReturnType<typeof transformSchema>>;

/** One side of a file. */
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

/** One side of manifests. */
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

/** The pseudo headers of each side (RFC 9113 8.3). */
const PSEUDO: Readonly<Record<Side, readonly string[]>> = {
  request: [":method", ":path", ":authority", ":scheme"],
  response: [":status"],
};

/** One side, compiled; undefined when a mistake was reported. */
export function resolveTransform(
  config: TransformConfig,
  side: Side,
  context: ResolveContext,
): TransformNode | undefined {
  const { add, set, remove, metadata, replace, body } = config;
  const isHeader = ({ name }: { readonly name: string }): boolean => !name.startsWith(":");
  const areSound = [
    ...checkPseudo(config, side, context),
    ...[...add, ...set, ...remove]
      .filter(isHeader)
      .map(({ name, origin }) => checkHeaderName(name, origin, context)),
    isEnforced(config, side, context),
  ];
  let failed = areSound.includes(false);
  const compile = (each: ExpressionConfig): readonly CompiledExpression[] => {
    const options = { phase: side, slot: "value" } as const;
    const found = resolveOfRequest(each, options, context);
    failed ||= found === undefined;
    return found === undefined ? [] : [found];
  };
  const compileAll = (all: readonly NamedExpression[]): readonly NamedNode[] =>
    all.flatMap((each) => compile(each).map((value) => ({ name: each.name, value })));
  const lowered = (all: readonly NamedExpression[]): readonly NamedExpression[] =>
    all.map((each) => ({ ...each, name: each.name.toLowerCase() }));
  // A pseudo header has one value: adding it is setting it.
  const pseudo = [...add, ...set].filter((each) => !isHeader(each));
  const node: TransformNode = {
    metadata: compileAll(metadata),
    replace: replace && compile(replace)[0],
    add: compileAll(lowered(add.filter(isHeader))),
    set: compileAll(lowered(set.filter(isHeader))),
    remove: remove.map(({ name }) => name.toLowerCase()),
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
  // How a backend is reached is said where it stands.
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

/** An MCP endpoint makes requests and responses of its own, so only the client's head can be changed before it. */
function isEnforced(
  { add, set, body }: TransformConfig,
  side: Side,
  { phase, route, origin, diagnostics }: ResolveContext,
): boolean {
  if (route.protocol !== "mcp" || (phase === "PreRouting" && side === "request")) return true;
  const pseudo = [...add, ...set].find(({ name }) => name.startsWith(":"));
  const at = body?.origin ?? pseudo?.origin;
  if (at === undefined) return true;
  diagnostics.report("needs-host-backend", keyPlace(at ?? origin), { policy: "transformations" });
  return false;
}
