import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { secretEntry } from "../../manifests/field-types.ts";
import type { MountedFile } from "../../model/texts.ts";
import { parseDuration } from "../../schema/duration.ts";
import {
  duration,
  type Infer,
  json,
  list,
  map,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";
import { wordsOfForms } from "../../schema/two-forms.ts";
import type { KubernetesContext, OrderPlace } from "../policy.ts";
import { OPTIONS, type OptionInput, withSchema } from "./options.ts";

/** A custom policy, as configured. */
export interface CustomEntryConfig {
  readonly use: string;
  readonly options: Readonly<Record<string, OptionInput>>;
  readonly allow: readonly string[];
  /** Milliseconds; `undefined` for the default. */
  readonly timeout: number | undefined;
  readonly passesOnFailure: boolean;
  /** Place in request order; `undefined` for that of custom policies. */
  readonly place: OrderPlace | undefined;
  /** Index in the configured list. */
  readonly index: number;
  /** Files of mounted Secrets with the values of further options, by name. */
  readonly secrets: Readonly<Record<string, MountedFile>>;
  /** Whether operators of a cluster have published it, so that the configuration cannot bring its code. */
  readonly isPublished: boolean;
  readonly origin: Origin;
}

/** `custom` as configured. */
export interface CustomConfig {
  readonly entries: readonly CustomEntryConfig[];
}

const failureMode = wordsOfForms(
  "Outcome if a hook throws, exceeds its timeout or returns something invalid: the request is refused with 500, or continues.",
  ["failClosed", "failOpen"],
  "failClosed",
);

/** Returns the schemas of a field that puts a policy somewhere else in request order. */
function place(side: "before" | "after", name: string) {
  const what = `Name of the policy ${side} which this one runs (default: after authentication, before authorization).`;
  const field = (example: string) => shortText(what, { examples: [example] });
  return { file: field(name), manifest: field(name === "jwtAuth" ? "jwtAuthentication" : name) };
}

const entrySchema = object(
  {
    use: text(
      "Path of the policy's TypeScript module, in the folder `policies` next to the configuration.",
      { examples: ["./policies/tenant.ts"] },
    ),
    with: withSchema,
    allow: list(
      text("Name of a module of Node.js without `node:`, `fetch`, `process` or `globalThis`."),
      {
        uniqueItems: true,
        maxItems: 32,
        description:
          "Names that the policy and its packages may use besides the language: modules of Node.js, `fetch` (also WebSocket), `process`, `globalThis` (all global names).",
      },
    ),
    timeout: duration(
      "Maximum time of an async hook, and of the streams of `responseStream` for a piece (default: 2s).",
      { minimumDuration: "1ms" },
    ),
    failureMode: failureMode.file,
    before: place("before", "jwtAuth").file,
    after: place("after", "authorization").file,
  },
  {
    ...{ required: ["use"], atMostOneOf: ["before", "after"] },
    description: "A policy written in TypeScript, compiled into the gateway.",
  },
);

/** Schema of `custom` in files. */
export const customPolicySchema = list(entrySchema, {
  minItems: 1,
  maxItems: 16,
  description: "Policies written in TypeScript, in the order in which they run.",
  examples: [[{ use: "./policies/tenant.ts", with: { header: "x-team" } }]],
});

const publishedSchema = object(
  {
    policy: shortText(
      "Name of a policy that operators have published: that of its file without `.ts`.",
      {
        ...{ maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
        ...{ form: "lower-case letters, digits and dashes", examples: ["tenant"] },
      },
    ),
    with: map(json, {
      maxProperties: 64,
      description: OPTIONS,
    }),
    secrets: map(secretEntry("An entry of a Secret.", "value"), {
      maxProperties: 16,
      description: "Options that are secrets, by name: entries of Secrets of the namespace.",
    }),
    timeout: duration(
      "Maximum time of an async hook, and of the streams of `responseStream` for a piece (default: 2s).",
      { minimumDuration: "1ms" },
    ),
    failureMode: failureMode.manifest,
    before: place("before", "jwtAuth").manifest,
    after: place("after", "authorization").manifest,
  },
  {
    ...{ required: ["policy"], atMostOneOf: ["before", "after"] },
    description: "A policy written in TypeScript that operators have published.",
  },
);

/** Schema of `custom` in manifests. */
export const publishedSchemas = list(publishedSchema, {
  ...{ minItems: 1, maxItems: 16 },
  description: "Policies written in TypeScript, in the order in which they run.",
});

/** Converts an entry of manifests, which names a published policy. */
export function lowerPublished(
  {
    policy,
    with: options = {},
    secrets = {},
    timeout,
    failureMode: mode,
    ...order
  }: Infer<typeof publishedSchema>,
  index: number,
  { origin, secretFiles }: KubernetesContext,
): CustomEntryConfig {
  const at = childOf(origin, index);
  const files = Object.entries(secrets).map(([option, { name, key = "value" }]) => {
    const [file = ""] = secretFiles(name, [key], "word", childOf(at, "secrets", option));
    return [option, { kind: "secret", file }] as const;
  });
  return {
    ...{ use: `./policies/${policy}.ts`, options, allow: [], origin: at, index },
    place: orderPlace(order, true, at),
    timeout: timeout === undefined ? undefined : parseDuration(timeout),
    passesOnFailure: mode === "FailOpen",
    secrets: Object.fromEntries(files),
    isPublished: true,
  };
}

/** Converts an entry of files. */
export function lowerEntry(
  {
    use,
    with: options = {},
    allow = [],
    timeout,
    failureMode: mode,
    ...order
  }: Infer<typeof entrySchema>,
  index: number,
  origin: Origin,
): CustomEntryConfig {
  return {
    ...{ use, options, allow, origin, index },
    place: orderPlace(order, false, origin),
    timeout: timeout === undefined ? undefined : parseDuration(timeout),
    passesOnFailure: mode === "failOpen",
    secrets: {},
    isPublished: false,
  };
}

/** Returns the place that a configuration gives to a policy. */
function orderPlace(
  { before, after }: { readonly before?: string | undefined; readonly after?: string | undefined },
  isOfManifest: boolean,
  origin: Origin,
): OrderPlace | undefined {
  const side = before === undefined ? "after" : "before";
  const name = before ?? after;
  return name === undefined
    ? undefined
    : { side, name, isOfManifest, origin: childOf(origin, side) };
}
