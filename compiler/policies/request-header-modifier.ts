import { type HeaderModifierPolicy, headerModifier } from "./parts/header-modifier.ts";

/** Changes request headers before the request is forwarded (Gateway API RequestHeaderModifier). */
export const requestHeaderModifier: HeaderModifierPolicy<"requestHeaderModifier"> = headerModifier(
  "requestHeaderModifier",
  "request",
  "sets, adds and removes request headers before the request is forwarded",
);
