import {
  type HeaderModifierConfig,
  type HeaderModifierNode,
  type HeaderModifierValue,
  headerModifierSchema,
  type KubernetesHeaderModifierValue,
  kubernetesHeaderModifierSchema,
  lowerHeaderModifier,
  lowerKubernetesHeaderModifier,
  resolveHeaderModifier,
} from "./parts/header-modifier.ts";
import type { Policy } from "./policy.ts";

/** Headers that the client sees otherwise than the backend sent them (Gateway API ResponseHeaderModifier). */
export const responseHeaderModifier: Policy<
  "responseHeaderModifier",
  HeaderModifierConfig,
  HeaderModifierNode,
  HeaderModifierValue,
  KubernetesHeaderModifierValue
> = {
  kind: "responseHeaderModifier",
  summary: "sets, adds and removes headers of the response, also of one that a later policy makes",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema: headerModifierSchema("Changes to the response's headers."),
  aliases: [["headerModifiers", "response"]],
  isPlannedOnBackend: true,
  names: ["responseHeaders"],
  merge: "replace",
  lower: lowerHeaderModifier,
  kubernetes: {
    field: "traffic.headerModifiers",
    part: "response",
    filter: "responseHeaderModifier",
    schema: kubernetesHeaderModifierSchema,
    lower: (value, { origin }) => lowerKubernetesHeaderModifier(value, origin),
  },
  resolve: resolveHeaderModifier,
};
