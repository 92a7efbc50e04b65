import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import {
  DEFAULT_GUARD_WINDOW,
  DEFAULT_REJECTION,
  DEFAULT_RESPONSE_REJECTION,
  type GuardConfig,
  NAMED_PATTERNS,
  type PatternConfig,
  type PromptGuardConfig,
  type RejectionConfig,
} from "../../model/prompt-guards.ts";
import {
  anyText,
  choice,
  type Infer,
  integer,
  list,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";
import {
  azurePromptSchema,
  azureSchema,
  lowerServerGuard,
  moderationSchema,
  SERVER_GUARD_KINDS,
  serverGuardSchemas,
} from "./guard-servers.ts";

const TEXT_PARTS = ["systemPrompt", "messages", "toolInput", "toolOutput"] as const;

const rule = object(
  {
    builtin: choice("A pattern that gwc knows.", NAMED_PATTERNS),
    pattern: text("A pattern (RE2).", { maxLength: 1024, isPattern: true }),
  },
  { exactlyOneOf: ["builtin", "pattern"], misplacedFieldHints: { regex: 'write pattern: "…"' } },
);

const regex = object(
  {
    action: choice("What happens to a match.", ["mask", "reject"], { default: "mask" }),
    rules: list(rule, { minItems: 1, maxItems: 64, description: "What is looked for." }),
  },
  { required: ["rules"], description: "Patterns, matched in time linear to the text." },
);

const status = integer("The status.", 200, 599, { default: DEFAULT_REJECTION.status });

const guardFields = {
  regex,
  ...serverGuardSchemas,
  response: object(
    {
      message: text("The message of the error, which is one of the client's own format.", {
        maxLength: 4096,
        default: DEFAULT_REJECTION.message,
      }),
      statusCode: status,
    },
    { minProperties: 1, description: "What clients get for what is rejected." },
  ),
  rejection: object(
    {
      status,
      body: anyText({ maxLength: 65_536, description: "The body, as it is." }),
      headers: object(
        {
          set: object(
            { "content-type": shortText("What the body is.") },
            { description: "Headers with their values." },
          ),
        },
        { description: "Headers of the response." },
      ),
    },
    {
      minProperties: 1,
      description: "What clients get for what is rejected, in a form of its own.",
    },
  ),
};

const KINDS = ["regex", ...SERVER_GUARD_KINDS];

const responseGuard = object(
  { ...guardFields, azureContentSafety: azureSchema },
  {
    exactlyOneOf: KINDS,
    atMostOneOf: ["response", "rejection"],
  },
);

const requestGuard = object(
  {
    ...guardFields,
    azureContentSafety: azurePromptSchema,
    openAIModeration: moderationSchema,
    externalModeration: { ...moderationSchema, aliasOf: "openAIModeration" },
    scope: list(choice("Texts of a kind.", TEXT_PARTS), {
      minItems: 1,
      uniqueItems: true,
      description:
        "Which texts of a request are looked at: system prompts (and what tools are said to be), messages, arguments of tools, and what tools gave. All by default.",
    }),
  },
  {
    exactlyOneOf: [...KINDS, "openAIModeration", "externalModeration"],
    atMostOneOf: ["response", "rejection"],
  },
);

/** `promptGuard` of a file. */
export function promptGuardSchema() {
  return object(
    {
      request: list(requestGuard, {
        minItems: 1,
        maxItems: 8,
        description: "What requests pass, one after the other.",
      }),
      response: list(responseGuard, {
        minItems: 1,
        maxItems: 8,
        description: "What responses pass, streams too.",
      }),
      streaming: choice(
        "Whether the guards of responses act on streams; where they do not, who asks for a stream goes around them.",
        ["Enabled", "Disabled"],
        { default: "Enabled" },
      ),
      window: integer(
        "Characters of a stream that wait for the rest of a match whose pattern has no bound, and of which a server is asked at once; a quarter of them is asked about twice, so that nothing is missed between.",
        16,
        65_536,
        { default: DEFAULT_GUARD_WINDOW },
      ),
    },
    {
      atLeastOneOf: ["request", "response"],
      description: "What must not reach a model, and what must not reach a client.",
    },
  );
}

type Value = Infer<ReturnType<typeof promptGuardSchema>>;
type GuardValue = NonNullable<Value["request"]>[number];

/** The canonical form of a validated `promptGuard`. */
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

function lowerGuard(value: GuardValue, otherwise: RejectionConfig, origin: Origin): GuardConfig {
  const field = value.response === undefined ? "rejection" : "response";
  const common = {
    rejection: readRejection(value, otherwise),
    rejectionOrigin: value[field] && childOf(origin, field),
    scope: value.scope && { parts: value.scope, origin: childOf(origin, "scope") },
  };
  if (value.regex === undefined) return { ...lowerServerGuard(value, origin), ...common };
  const { action = "mask", rules } = value.regex;
  const at = childOf(origin, "regex");
  const patterns = rules.map(({ builtin, pattern = "" }, index): PatternConfig => {
    if (builtin !== undefined) return { kind: "named", name: builtin };
    return { kind: "own", pattern, origin: childOf(at, "rules", index, "pattern") };
  });
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
