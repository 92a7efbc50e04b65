import { type HeaderModifierPolicy, headerModifier } from "./parts/header-modifier.ts";

/** Headers that the client sees otherwise than the backend sent them (Gateway API ResponseHeaderModifier). */
export const responseHeaderModifier: HeaderModifierPolicy<"responseHeaderModifier"> =
  headerModifier(
    "responseHeaderModifier",
    "response",
    "sets, adds and removes headers of the response, also of one that a later policy makes",
  );
