import { type HeaderModifierPolicy, headerModifier } from "./parts/header-modifier.ts";

/** Changes response headers before the response is sent (Gateway API ResponseHeaderModifier). */
export const responseHeaderModifier: HeaderModifierPolicy<"responseHeaderModifier"> =
  headerModifier(
    "responseHeaderModifier",
    "response",
    "sets, adds and removes response headers, including those of responses that later policies create",
  );
