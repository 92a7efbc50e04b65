import {
  filePatterns,
  manifestPatterns,
  readFilePatterns,
  readManifestPatterns,
} from "../backends/ai/pattern-forms.ts";
import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { PatternConfig } from "../model/prompt-guards.ts";
import {
  byteCount,
  either,
  expression,
  type Infer,
  inPhase,
  list,
  number,
  object,
  type Schema,
} from "../schema/schema.ts";
import { fileWord, wordsOfForms } from "../schema/two-forms.ts";

/** Messages of calls to models that are exported, as configured. */
export interface MessageCaptureConfig {
  /** Calls whose messages are exported; `undefined` for all. */
  readonly sampling: ExpressionConfig | undefined;
  readonly content: readonly CapturedContent[];
  /** Maximum bytes of each attribute. */
  readonly maxBytes: number;
  /** Patterns whose matches are masked. */
  readonly redact: readonly PatternConfig[];
  readonly origin: Origin;
}

/** Messages of one direction. */
export type CapturedContent = (typeof CONTENTS)[number];

const CONTENTS = ["input", "output"] as const;
const DEFAULT_MAX_BYTES = 65_536;

const SAMPLING =
  "Fraction of the calls whose messages are exported: a number (`0.1`), true, or a CEL expression that is evaluated at the " +
  "end of a request. All by default.";
const REDACT = "Patterns whose matches are masked before messages are exported.";
const CAPTURE =
  "Exports the messages of calls to models by the conventions of OpenTelemetry: the request after its guards as " +
  "`gen_ai.input.messages` and `gen_ai.system_instructions`, and the completion that the client received as " +
  "`gen_ai.output.messages`. Messages often contain personal data. Of images, audio and documents, only type and size are " +
  "exported.";

/** Sentences on the form of exported messages. */
const PLACES = {
  span: "They are attributes of the span of the request.",
  event: "They are events `gen_ai.client.inference.operation.details`.",
};

const content = wordsOfForms("Messages of requests or of responses.", CONTENTS);

function commonFields(word: Schema<CapturedContent | Capitalize<CapturedContent>>) {
  return {
    content: list(word, {
      minItems: 1,
      maxItems: CONTENTS.length,
      uniqueItems: true,
      description: "Which messages are exported; all by default.",
    }),
    maxBytes: byteCount(
      "Maximum size in bytes of each attribute. The earliest messages of a longer one are omitted, or the last one is " +
        "cut; `llm.capture.truncated` is true then.",
      256,
      262_144,
      { default: DEFAULT_MAX_BYTES },
    ),
  };
}

/** Returns the schema of `capture` in a file. */
export function captureSchema(place: keyof typeof PLACES) {
  const share = number("Fraction of the calls.", 0, 1);
  const bool: Schema<boolean> = { type: "boolean" };
  return object(
    {
      sampling: inPhase(
        "log",
        either(either(share, bool), expression("A CEL expression."), { description: SAMPLING }),
      ),
      ...commonFields(content.file),
      redact: filePatterns(REDACT),
    },
    { description: `${CAPTURE} ${PLACES[place]}` },
  );
}

/** Returns the schema of `capture` in manifests. */
export function kubernetesCaptureSchema(place: keyof typeof PLACES) {
  return object(
    {
      sampling: inPhase("log", expression(SAMPLING)),
      ...commonFields(content.manifest),
      redact: object(manifestPatterns(), {
        atLeastOneOf: ["matches", "builtins"],
        description: REDACT,
      }),
    },
    { description: `${CAPTURE} ${PLACES[place]}` },
  );
}

/** Reads `capture` of a file. */
export function readCapture(
  { redact = [], ...rest }: Infer<ReturnType<typeof captureSchema>>,
  origin: Origin,
): MessageCaptureConfig {
  const patterns = readFilePatterns(redact, childOf(origin, "redact"));
  return { ...readCommon(rest, origin), redact: patterns };
}

/** Reads `capture` of manifests. */
export function readKubernetesCapture(
  { redact = {}, ...rest }: Infer<ReturnType<typeof kubernetesCaptureSchema>>,
  origin: Origin,
): MessageCaptureConfig {
  const patterns = readManifestPatterns(redact, childOf(origin, "redact"));
  return { ...readCommon(rest, origin), redact: patterns };
}

/** Fields that both forms have. */
interface CommonValue {
  readonly sampling?: string | number | boolean | undefined;
  readonly content?: readonly (CapturedContent | Capitalize<CapturedContent>)[] | undefined;
  readonly maxBytes?: number | undefined;
}

function readCommon(
  { sampling, content: words = CONTENTS, maxBytes = DEFAULT_MAX_BYTES }: CommonValue,
  origin: Origin,
): Omit<MessageCaptureConfig, "redact"> {
  return {
    sampling:
      sampling === undefined
        ? undefined
        : { text: String(sampling), origin: childOf(origin, "sampling") },
    content: words.map((word) => fileWord(word)),
    maxBytes,
    origin,
  };
}
