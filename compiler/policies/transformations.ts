import type { ConfigValue } from "../1-parse/values.ts";
import type { CelPhase } from "../cel/compile.ts";
import { below, type Origin } from "../diagnostics.ts";
import type { CompiledExpression } from "../ir.ts";
import { expression, list, notYet, object, type Schema, shortText } from "../schema.ts";
import { type ExpressionConfig, resolveExpression } from "./expressions.ts";
import { checkHeaderName } from "./header-fields.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** Changes to a message as configured. Names as written, pseudo headers among them. */
interface TransformConfig {
  readonly add: readonly NamedExpression[];
  readonly set: readonly NamedExpression[];
  readonly remove: readonly { readonly name: string; readonly origin: Origin }[];
  readonly body: ExpressionConfig | undefined;
}

interface NamedExpression extends ExpressionConfig {
  readonly name: string;
}

/** Changes to a message, compiled: header names in lower case, pseudo headers apart. */
export interface TransformNode {
  readonly add: readonly HeaderExpression[];
  readonly set: readonly HeaderExpression[];
  readonly remove: readonly string[];
  /** `method`, `path`, `authority`, `scheme`, `status`. */
  readonly pseudo: readonly HeaderExpression[];
  readonly body: CompiledExpression | undefined;
  readonly origin: Origin;
}

interface HeaderExpression {
  readonly name: string;
  readonly value: CompiledExpression;
}

declare module "./policy.ts" {
  interface PolicyConfigs {
    transformations: {
      readonly request: TransformConfig | undefined;
      readonly response: TransformConfig | undefined;
    };
  }
}

declare module "../ir.ts" {
  interface PolicySettings {
    transformations: {
      readonly request: TransformNode | undefined;
      readonly response: TransformNode | undefined;
    };
  }
}

/** HeaderName of the specification. */
const HEADER_NAME = "^:?[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$";

const valuesSchema = (description: string): Schema => ({
  type: "object",
  additionalProperties: expression("A CEL expression: the header's value."),
  minProperties: 1,
  maxProperties: 16,
  description,
});

const transformSchema = (pseudo: string, description: string): Schema =>
  object(
    {
      add: valuesSchema(
        "Headers that are added to those of their name; one that fails is left out.",
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
      metadata: notYet("metadata of transformations"),
      replace: notYet("replacing whole messages"),
    },
    { atLeastOneOf: ["add", "set", "remove", "body"], description },
  );

/** Changes to requests and answers, by CEL expressions over what they are. */
export const transformations: Policy<"transformations"> = {
  kind: "transformations",
  summary:
    "sets, adds and removes headers and replaces bodies of requests and answers, by CEL expressions",
  scope: ["listener", "route"],
  schema: object(
    {
      request: transformSchema("`:method`, `:path`, `:authority`", "Changes to the request."),
      response: transformSchema("`:status`", "Changes to the answer."),
      conditional: notYet("conditional transformations"),
    },
    { atLeastOneOf: ["request", "response"], description: "Changes to requests and answers." },
  ),
  merge: "replace",
  read: (value, origin) => {
    const { request, response } = value as Readonly<Record<string, ConfigValue | undefined>>;
    return {
      request: request === undefined ? undefined : readTransform(request, below(origin, "request")),
      response:
        response === undefined ? undefined : readTransform(response, below(origin, "response")),
    };
  },
  cluster: {
    field: "traffic.transformation",
    read: (value, { origin }) => {
      const { request, response } = value as Readonly<
        Partial<Record<"request" | "response", ClusterTransform>>
      >;
      return {
        request: request && readClusterTransform(request, below(origin, "request")),
        response: response && readClusterTransform(response, below(origin, "response")),
      };
    },
  },
  resolve: ({ request, response }, context) => {
    const found = {
      request: request && resolveTransform(request, "request", context),
      response: response && resolveTransform(response, "response", context),
    };
    const isComplete =
      (request === undefined) === (found.request === undefined) &&
      (response === undefined) === (found.response === undefined);
    return isComplete ? found : undefined;
  },
};

function readTransform(value: ConfigValue, origin: Origin): TransformConfig {
  const given = value as {
    readonly add?: Readonly<Record<string, string>>;
    readonly set?: Readonly<Record<string, string>>;
    readonly remove?: readonly string[];
    readonly body?: string;
  };
  const named = (key: "add" | "set"): readonly NamedExpression[] =>
    Object.entries(given[key] ?? {}).map(([name, text]) => ({
      name,
      text,
      origin: below(origin, key, name),
    }));
  return {
    add: named("add"),
    set: named("set"),
    remove: (given.remove ?? []).map((name, index) => ({
      name,
      origin: below(origin, "remove", index),
    })),
    body:
      given.body === undefined ? undefined : { text: given.body, origin: below(origin, "body") },
  };
}

/** `Transform` of the specification: lists of names and values. */
interface ClusterTransform {
  readonly add?: readonly { readonly name: string; readonly value: string }[];
  readonly set?: readonly { readonly name: string; readonly value: string }[];
  readonly remove?: readonly string[];
  readonly body?: string;
}

function readClusterTransform(given: ClusterTransform, origin: Origin): TransformConfig {
  const named = (key: "add" | "set"): readonly NamedExpression[] =>
    (given[key] ?? []).map(({ name, value }, index) => ({
      name,
      text: value,
      origin: below(origin, key, index, "value"),
    }));
  const { add, set } = { add: named("add"), set: named("set") };
  const { remove, body } = readTransform({ ...given, add: {}, set: {} } as ConfigValue, origin);
  return { add, set, remove, body };
}

const PSEUDO: Readonly<Record<"request" | "response", readonly string[]>> = {
  request: [":method", ":path", ":authority", ":scheme"],
  response: [":status"],
};

function resolveTransform(
  { add, set, remove, body }: TransformConfig,
  phase: CelPhase & ("request" | "response"),
  context: ResolveContext,
): TransformNode | undefined {
  const { diagnostics, origin, route } = context;
  const isPseudo = ({ name }: { readonly name: string }): boolean => PSEUDO[phase].includes(name);
  const headers = set.filter((each) => !isPseudo(each));
  const pseudo = set.filter(isPseudo);
  const names = [...add, ...headers, ...remove].map((each) =>
    checkHeaderName(each.name, each.origin, context),
  );
  const compile = (each: ExpressionConfig): CompiledExpression | undefined =>
    resolveExpression(each, { phase, slot: "value" }, diagnostics);
  const compileAll = (list: readonly NamedExpression[]): readonly HeaderExpression[] =>
    list.flatMap((each) => {
      const value = compile(each);
      return value === undefined ? [] : [{ name: each.name.toLowerCase(), value }];
    });
  const node = {
    add: compileAll(add),
    set: compileAll(headers),
    remove: remove.map(({ name }) => name.toLowerCase()),
    pseudo: compileAll(pseudo).map(({ name, value }) => ({ name: name.slice(1), value })),
    body: body && compile(body),
    origin: below(origin, phase),
  };
  const isEarlyRequest = context.phase === "PreRouting" && phase === "request";
  if (route.isMcp && !isEarlyRequest && (body !== undefined || pseudo.length > 0)) {
    const at = body?.origin ?? pseudo[0]?.origin ?? origin;
    diagnostics.report("needs-host-backend", { ...at, part: "key" }, { policy: "transformations" });
    return undefined;
  }
  const count = node.add.length + node.set.length + node.pseudo.length;
  const isSound =
    !names.includes(false) &&
    count === add.length + set.length &&
    (body === undefined) === (node.body === undefined);
  return isSound ? node : undefined;
}
