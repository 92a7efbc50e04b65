import { DEFAULT_REJECTION, NAMED_PATTERNS } from "../../model/prompt-guards.ts";
import { choice, integer, list, object, type Schema, text } from "../../schema/schema.ts";
import { wordsOfForms } from "../../schema/two-forms.ts";

/** Description of `promptGuard`, in both forms. */
export const PROMPT_GUARD = "Guards that mask or reject content of requests and responses.";

/** Returns the fields of `promptGuard` that both forms have, for the form's own guards of each phase. */
export function guardLists<Request, Response>(
  request: Schema<Request>,
  response: Schema<Response>,
) {
  const guards = <Guard>(guard: Schema<Guard>, description: string) =>
    list(guard, { minItems: 1, maxItems: 8, description });
  return {
    request: guards(request, "Guards of requests, applied in this order."),
    response: guards(response, "Guards of responses, including streams, applied in this order."),
    streaming: choice(
      "Whether response guards also act on streams. If disabled, clients can bypass them by requesting a stream.",
      ["Enabled", "Disabled"],
      { default: "Enabled" },
    ),
  };
}

/** Description of `regex`. */
export const REGEX = "Searches for patterns, in time linear in the length of the text.";

/** Description of a custom pattern of `regex`. */
export const OWN_PATTERN = "A regular expression (RE2).";

/** Schemas of a predefined pattern of `regex`. */
export const namedPattern = wordsOfForms("A predefined pattern.", NAMED_PATTERNS);

/** Schemas of the action of `regex`. */
export const regexAction = wordsOfForms("Action on a match.", ["mask", "reject"], "mask");

/** Schema of the status of rejections. */
export const rejectionStatus = integer("The status.", 200, 599, {
  default: DEFAULT_REJECTION.status,
});

/** Returns the fields of `response`, the error for rejected content. */
export function rejectionFields(message: string, limits: { readonly maxLength?: number }) {
  return {
    message: text("Message of the error, which is sent in the client's API format.", {
      ...limits,
      default: message,
    }),
    statusCode: rejectionStatus,
  };
}

/** Returns the schema of `response` where the error is one of JSON-RPC, which has no status. */
export function rpcRejection(message: string) {
  return object(
    { message: text("Message of the JSON-RPC error.", { maxLength: 4096, default: message }) },
    { required: ["message"], description: REJECTION },
  );
}

/** Description of `response`. */
export const REJECTION = "Error that clients get for rejected content.";

/** Description of `openAIModeration`. */
export const MODERATION = "Calls OpenAI's moderation API: flagged content is rejected.";

/** Parts of a request that guards scan, by their names in a file. */
export const TEXT_PARTS = ["systemPrompt", "messages", "toolInput", "toolOutput"] as const;

/** Returns the schema of the parts of a request that a guard scans, by their names in a form. */
export function scopeSchema<const Part extends string>(parts: readonly Part[]) {
  return list(choice("A part of the request.", parts), {
    minItems: 1,
    uniqueItems: true,
    description:
      "Parts of a request to scan: system prompts (with tool descriptions), messages, tool arguments, and tool results. All by default.",
  });
}
