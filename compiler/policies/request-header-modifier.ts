import { type HeaderModifierPolicy, headerModifier } from "./parts/header-modifier.ts";

/** Headers that the backend sees otherwise than the client sent them (Gateway API RequestHeaderModifier). */
export const requestHeaderModifier: HeaderModifierPolicy<"requestHeaderModifier"> = headerModifier(
  "requestHeaderModifier",
  "request",
  "sets, adds and removes headers of the request before it goes to the backend",
);
