import { parseDuration } from "../1-parse/duration.ts";
import type { ConfigValue } from "../1-parse/values.ts";
import { duration, integer, list, notYet, object } from "../schema.ts";
import type { Policy, PolicyConfigs } from "./policy.ts";

declare module "./policy.ts" {
  interface PolicyConfigs {
    retry: {
      readonly attempts: number;
      /** Milliseconds. */
      readonly backoff: number;
      readonly codes: readonly number[];
    };
  }
}

declare module "../ir.ts" {
  interface PolicySettings {
    retry: {
      readonly attempts: number;
      readonly backoff: number;
      readonly codes: readonly number[];
    };
  }
}

/** Sends a request again that failed (Gateway API HTTPRouteRetry). */
export const retry: Policy<"retry"> = {
  kind: "retry",
  summary:
    "sends a request again when the backend fails or answers with a listed status; bodies up to 64 KiB are kept for it",
  scope: ["route"],
  schema: object(
    {
      attempts: integer("Attempts after the first one.", 0, 255, { default: 1 }),
      backoff: duration("The pause before each of them.", { default: "0s" }),
      codes: list(integer("A status.", 400, 599), {
        maxItems: 64,
        description:
          "Statuses that are tried again; failures to connect, broken answers and timeouts always are.",
      }),
      precondition: notYet("conditions of retries"),
      condition: notYet("conditions of retries"),
    },
    { description: "Sends a failed request again." },
  ),
  needs: "host",
  merge: "replace",
  read: readRetry,
  cluster: { field: "traffic.retry", ruleField: "retry", read: readRetry },
  resolve: (config) => config,
};

function readRetry(value: ConfigValue): PolicyConfigs["retry"] {
  const given = value as {
    readonly attempts?: number;
    readonly backoff?: string;
    readonly codes?: readonly number[];
  };
  return {
    attempts: given.attempts ?? 1,
    backoff: Math.round(parseDuration(given.backoff ?? "0s") ?? 0),
    codes: given.codes ?? [],
  };
}
