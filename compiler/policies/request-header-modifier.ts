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

/** Headers that the backend sees otherwise than the client sent them (Gateway API RequestHeaderModifier). */
export const requestHeaderModifier: Policy<
  "requestHeaderModifier",
  HeaderModifierConfig,
  HeaderModifierNode,
  HeaderModifierValue,
  KubernetesHeaderModifierValue
> = {
  kind: "requestHeaderModifier",
  summary: "sets, adds and removes headers of the request before it goes to the backend",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema: headerModifierSchema("Changes to the request's headers."),
  aliases: [["headerModifiers", "request"]],
  isPlannedOnBackend: true,
  names: ["requestHeaders"],
  merge: "replace",
  lower: lowerHeaderModifier,
  kubernetes: {
    field: "traffic.headerModifiers",
    part: "request",
    filter: "requestHeaderModifier",
    schema: kubernetesHeaderModifierSchema,
    lower: (value, { origin }) => lowerKubernetesHeaderModifier(value, origin),
  },
  resolve: resolveHeaderModifier,
};
