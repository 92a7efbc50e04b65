import {
  type HeaderChangesValue,
  headerChangesSchema,
  type KubernetesHeaderChangesValue,
  kubernetesHeaderChangesSchema,
  readHeaderChanges,
  readKubernetesHeaderChanges,
  resolveHeaderChanges,
} from "../../backends/parts/header-changes.ts";
import type { HeaderChangesConfig, HeaderChangesNode } from "../../model/header-changes.ts";
import { shownText } from "../../model/texts.ts";
import type { Policy } from "../policy.ts";

/** A policy that changes the headers of requests or responses. */
export type HeaderModifierPolicy<Kind extends string> = Policy<
  Kind,
  HeaderChangesConfig,
  HeaderChangesNode,
  HeaderChangesValue,
  KubernetesHeaderChangesValue
>;

/** Returns the policy that changes the headers of requests or of responses. */
export function headerModifier<const Kind extends string>(
  kind: Kind,
  part: "request" | "response",
  summary: string,
): HeaderModifierPolicy<Kind> {
  return {
    kind,
    summary,
    scope: ["listener", "route"],
    traits: {
      actsOn: ["requests"],
      ...(part === "request" && {
        ownHeaders: ({ set, remove }: HeaderChangesNode) => [
          ...set.map(([name]) => name),
          ...remove,
        ],
        changesRequest: ({ set, add, remove }: HeaderChangesNode) => [
          ...[...set, ...add].map(([name]) => name),
          ...remove,
        ],
      }),
    },
    ...(part === "response" && {
      access: {
        sharesResponses: ({ set, add }: HeaderChangesNode) =>
          [...set, ...add].flatMap(([name, value]) =>
            /^access-control-/i.test(name) ? `${name.toLowerCase()}: ${shownText(value)}` : [],
          ),
      },
    }),
    schema: headerChangesSchema(`Changes to the ${part}'s headers.`),
    aliases: [["headerModifiers", part]],
    names: [`${part}Headers`],
    lowering: {
      merge: "replace",
      lower: readHeaderChanges,
      resolve: resolveHeaderChanges,
    },
    kubernetes: {
      field: "traffic.headerModifiers",
      part,
      filter: kind,
      schema: kubernetesHeaderChangesSchema,
      lower: (value, { origin }) => readKubernetesHeaderChanges(value, origin),
    },
  };
}
