import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  DEFAULT_GUARD_WINDOW,
  DEFAULT_REJECTION,
  DEFAULT_RESPONSE_REJECTION,
  type GuardConfig,
  type PromptGuardConfig,
  type RejectionConfig,
} from "../../model/prompt-guards.ts";
import { anyText, type Infer, integer, object, shortText } from "../../schema/schema.ts";
import {
  guardLists,
  PROMPT_GUARD,
  REGEX,
  REJECTION,
  regexAction,
  rejectionFields,
  rejectionStatus,
  scopeSchema,
  TEXT_PARTS,
} from "./guard-fields.ts";
import {
  azurePromptSchema,
  azureSchema,
  lowerServerGuard,
  moderationSchema,
  serverGuardSchemas,
} from "./guard-servers.ts";
import { filePatterns, readFilePatterns } from "./pattern-forms.ts";

const regex = object(
  {
    action: regexAction.file,
    rules: filePatterns("Patterns to search for."),
  },
  {
    required: ["rules"],
    description: REGEX,
  },
);

const rejectionSchemas = {
  response: object(rejectionFields(DEFAULT_REJECTION.message, { maxLength: 4096 }), {
    minProperties: 1,
    description: REJECTION,
  }),
  rejection: object(
    {
      status: rejectionStatus,
      body: anyText({ maxLength: 65_536, description: "The body, sent unchanged." }),
      headers: object(
        {
          set: object(
            { "content-type": shortText("Media type of the body.") },
            { description: "Header values by name." },
          ),
        },
        { description: "Response headers." },
      ),
    },
    {
      minProperties: 1,
      description: "Custom response that clients get for rejected content.",
    },
  ),
};

/** Kinds of guards of responses. */
export const responseGuardKinds = {
  regex,
  ...serverGuardSchemas,
  azureContentSafety: azureSchema,
};

/** Kinds of guards of requests. */
export const requestGuardKinds = {
  ...responseGuardKinds,
  azureContentSafety: azurePromptSchema,
  openAIModeration: moderationSchema,
  externalModeration: { ...moderationSchema, aliasOf: "openAIModeration" },
};

const responseGuard = object(
  { ...responseGuardKinds, ...rejectionSchemas },
  {
    exactlyOneOf: Object.keys(responseGuardKinds),
    atMostOneOf: ["response", "rejection"],
  },
);

const requestGuard = object(
  { ...requestGuardKinds, ...rejectionSchemas, scope: scopeSchema(TEXT_PARTS) },
  {
    exactlyOneOf: Object.keys(requestGuardKinds),
    atMostOneOf: ["response", "rejection"],
  },
);

/** Returns the schema of `promptGuard` in a file. */
export function promptGuardSchema() {
  return object(
    {
      ...guardLists(requestGuard, responseGuard),
      window: integer(
        "Number of characters of a stream that are held back for an unbounded match, and that are sent to a guard server at a time. Consecutive windows overlap by a quarter, so that nothing is missed in between.",
        16,
        65_536,
        { default: DEFAULT_GUARD_WINDOW },
      ),
    },
    {
      atLeastOneOf: ["request", "response"],
      description: PROMPT_GUARD,
    },
  );
}

type Value = Infer<ReturnType<typeof promptGuardSchema>>;
type GuardValue = NonNullable<Value["request"]>[number];

/** Converts a validated `promptGuard` to canonical form. */
export function lowerPromptGuard(
  { request = [], response = [], streaming, window }: Value,
  origin: Origin,
): PromptGuardConfig {
  const at = (phase: string, index: number) => childOf(origin, phase, index);
  return {
    request: request.map((each, index) =>
      lowerGuard(each, DEFAULT_REJECTION, at("request", index)),
    ),
    response: response.map((each, index) =>
      lowerGuard(each, DEFAULT_RESPONSE_REJECTION, at("response", index)),
    ),
    unguardedStreams: streaming === "Disabled" ? childOf(origin, "streaming") : undefined,
    window: window ?? DEFAULT_GUARD_WINDOW,
    windowOrigin: window === undefined ? undefined : childOf(origin, "window"),
  };
}

/** Converts a validated guard to canonical form. `otherwise`: the default rejection. */
export function lowerGuard(
  value: GuardValue,
  otherwise: RejectionConfig,
  origin: Origin,
): GuardConfig {
  const field = value.response === undefined ? "rejection" : "response";
  const common = {
    rejection: readRejection(value, otherwise),
    rejectionOrigin: value[field] && childOf(origin, field),
    scope: value.scope && { parts: value.scope, origin: childOf(origin, "scope") },
  };
  if (value.regex === undefined) return { ...lowerServerGuard(value, origin), ...common };
  const { action = "mask", rules } = value.regex;
  const at = childOf(origin, "regex");
  const patterns = readFilePatterns(rules, childOf(at, "rules"));
  return { kind: "regex", action, patterns, ...common, origin: at };
}

function readRejection(
  { response, rejection }: Pick<GuardValue, "response" | "rejection">,
  { status, message }: RejectionConfig,
): RejectionConfig {
  if (rejection === undefined) {
    return { status: response?.statusCode ?? status, message: response?.message ?? message };
  }
  const { body, headers } = rejection;
  const type = headers?.set?.["content-type"];
  const own = (body ?? type) !== undefined && {
    body: body ?? message,
    headers: ["content-type", type ?? "text/plain; charset=utf-8"],
  };
  return { status: rejection.status ?? status, message, ...(own && { own }) };
}
