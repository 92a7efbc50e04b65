import { choice, list, type Schema } from "../../schema/schema.ts";

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

/** Returns the schema of the parts of a request that a guard scans, by their names in a form. */
export function scopeSchema<const Part extends string>(parts: readonly Part[]) {
  return list(choice("A part of the request.", parts), {
    minItems: 1,
    uniqueItems: true,
    description:
      "Parts of a request to scan: system prompts (with tool descriptions), messages, tool arguments, and tool results. All by default.",
  });
}
