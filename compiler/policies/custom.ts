import { childOf } from "../diagnostics/diagnostic.ts";
import type { Infer } from "../schema/schema.ts";
import { checkOf, comparison, customParts, mayRefuse } from "./custom/access.ts";
import { HOOKS } from "./custom/declaration.ts";
import { type CustomNode, resolveEntry, TEXT_HOOKS } from "./custom/entry.ts";
import {
  type CustomConfig,
  customPolicySchema,
  lowerEntry,
  lowerPublished,
  publishedSchemas,
} from "./custom/fields.ts";
import { declaredValues, providedValues, reportProvidedTwice } from "./custom/provided-values.ts";
import type { Policy } from "./policy.ts";

/** Runs policies that users write in TypeScript. */
export const customPolicies: Policy<
  "custom",
  CustomConfig,
  CustomNode,
  Infer<typeof customPolicySchema>,
  Infer<typeof publishedSchemas>
> = {
  kind: "custom",
  summary:
    "runs policies written in TypeScript and compiled into the gateway; later expressions read what they provide as `custom`",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests", "streams"],
    variable: "custom",
    provides: ({ entries }) => providedValues(entries),
    declares: ({ entries }, reading) => declaredValues(entries, reading),
    changesRequest: () => "anything",
    textHooks: ({ entries }) => {
      const readers = entries.filter(({ hooks }) => TEXT_HOOKS.some((hook) => hooks[hook]));
      const [first] = readers;
      return (
        first && {
          request: readers.some(({ hooks }) => hooks.prompt !== undefined),
          response: readers.some(({ hooks }) => hooks.completion !== undefined),
          origin: first.named,
        }
      );
    },
    customHooks: ({ entries }) =>
      new Map(entries.map(({ name, hooks }) => [name, HOOKS.filter((hook) => hooks[hook])])),
    sources: ({ entries }) => entries.flatMap(({ sources }) => sources),
    parts: customParts,
  },
  schema: customPolicySchema,
  names: ["customPolicy"],
  access: {
    direction: "closes",
    directionOf: ({ entries }) => (entries.some(mayRefuse) ? "closes" : "changes"),
    restrictsAccess: true,
    checks: ({ entries }) => entries.flatMap((entry) => checkOf(entry) ?? []),
    compare: comparison(),
  },
  lowering: {
    merge: "replace",
    lower: (entries, origin) => ({
      entries: entries.map((each, index) => lowerEntry(each, index, childOf(origin, index))),
    }),
    partsOf: ({ entries }) => {
      const placed = entries.filter((each) => each.place !== undefined);
      const others = entries.filter((each) => each.place === undefined);
      return [
        ...(others.length === 0 ? [] : [{ config: { entries: others }, place: undefined }]),
        ...placed.map((each) => ({ config: { entries: [each] }, place: each.place })),
      ];
    },
    joinParts: (parts) => ({
      entries: parts.flatMap(({ entries }) => entries).toSorted((a, b) => a.index - b.index),
    }),
    resolve: ({ entries }, context) => {
      const resolved = entries.flatMap((each) => resolveEntry(each, context) ?? []);
      if (resolved.length < entries.length) return undefined;
      reportProvidedTwice(resolved, context);
      return { entries: resolved };
    },
  },
  kubernetes: {
    field: "traffic.custom",
    schema: publishedSchemas,
    lower: (entries, context) => ({
      entries: entries.map((each, index) => lowerPublished(each, index, context)),
    }),
  },
};
