import {
  type HeaderModifierConfig,
  type HeaderModifierNode,
  headerModifierSchema,
  readHeaderModifier,
  readKubernetesHeaderModifier,
  resolveHeaderModifier,
} from "./parts/header-modifier.ts";
import type { Policy } from "./policy.ts";

/** Headers that the client sees otherwise than the backend sent them (Gateway API ResponseHeaderModifier). */
export const responseHeaderModifier: Policy<
  "responseHeaderModifier",
  HeaderModifierConfig,
  HeaderModifierNode
> = {
  kind: "responseHeaderModifier",
  summary: "sets, adds and removes headers of the response, also of one that a later policy makes",
  scope: ["listener", "route"],
  schema: headerModifierSchema("Changes to the response's headers."),
  aliases: [["headerModifiers", "response"]],
  isPlannedOnBackend: true,
  names: ["responseHeaders"],
  merge: "replace",
  read: readHeaderModifier,
  kubernetes: {
    field: "traffic.headerModifiers",
    part: "response",
    filter: "responseHeaderModifier",
    read: (value, { origin }) => readKubernetesHeaderModifier(value, "response", origin),
  },
  resolve: resolveHeaderModifier,
};
