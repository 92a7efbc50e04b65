import { isJsonObject } from "../../json/json-object.ts";
import { type Message, textAt } from "../protocol/message.ts";
import type { Outcome } from "../protocol/target-failure.ts";
import { type Features, featureLetters } from "../session/session.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { McpTarget } from "../transports/target.ts";
import { mergedTaskCapability } from "./merged-tasks.ts";

/** The parsed response of a target to initialize. */
export type InitializeResult =
  | {
      readonly kind: "opened";
      readonly version: string;
      readonly features: Features;
      readonly capabilities: JsonObject;
      readonly instructions: string | undefined;
    }
  | { readonly kind: "failure" };

type JsonObject = { readonly [name: string]: unknown };

/** Key in `_meta` of the names of targets that are missing from a response. */
export const UNAVAILABLE_META = "gwc.dev/unavailable";

/** Reads a target's response. */
export function readInitialize(outcome: Outcome): InitializeResult {
  if (outcome.kind === "failure" || outcome.response.result === undefined)
    return { kind: "failure" };
  const result = objectOf(JSON.parse(textAt(outcome.response.text, outcome.response.result)));
  const { protocolVersion, instructions } = result;
  if (typeof protocolVersion !== "string") return { kind: "failure" };
  const capabilities = objectOf(result.capabilities);
  return {
    kind: "opened",
    version: protocolVersion,
    features: featuresOf(capabilities),
    capabilities,
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

/** Returns a target's result without capabilities that need a session: there are no streams between requests. */
export function withoutSession(result: InitializeResult): InitializeResult {
  if (result.kind === "failure") return result;
  return { ...result, capabilities: singleCallCapabilities(result.capabilities) };
}

/** Returns the only target's result as JSON text, without capabilities that need a session. */
export function singleCallResult({ text, result: at }: Message): string {
  const result = objectOf(at && JSON.parse(textAt(text, at)));
  const capabilities = singleCallCapabilities(objectOf(result.capabilities));
  return JSON.stringify({ ...result, capabilities });
}

function singleCallCapabilities(all: JsonObject): JsonObject {
  const { logging: _, tasks: __, ...kept } = all;
  return Object.fromEntries(
    Object.entries(kept).map(([name, offered]) => {
      const { listChanged: _, subscribe: __, ...rest } = objectOf(offered);
      return [name, rest];
    }),
  );
}

/** Returns the merged result of several targets as JSON text; `results` are in the order of the targets. */
export function mergeInitialize(
  backend: InstructedBackend,
  results: readonly InitializeResult[],
): string {
  const { targets } = backend;
  const opened = results.filter((result) => result.kind === "opened");
  const versions = opened.map((result) => result.version).sort();
  return JSON.stringify({
    // Revisions are dates: every target supports the earliest.
    protocolVersion: versions[0],
    capabilities: {
      ...mergeCapabilities(opened.map((result) => result.capabilities)),
      tasks: mergedTaskCapability(opened.map((result) => result.capabilities)),
    },
    serverInfo: { name: "gwc", version: "1" },
    instructions: joinInstructions(backend, results),
    _meta: unavailableMeta(targets, results),
  });
}

/** Returns the member of `_meta` with the names of missing targets; `undefined` if there are none. */
export function unavailableMeta(
  targets: readonly McpTarget[],
  results: readonly InitializeResult[],
): JsonObject | undefined {
  const missing = targets.filter((_, at) => results[at]?.kind !== "opened");
  return missing.length === 0 ? undefined : { [UNAVAILABLE_META]: missing.map(({ name }) => name) };
}

function featuresOf(capabilities: JsonObject): Features {
  let features = "";
  for (const [name, letter] of Object.entries(featureLetters)) {
    if (Object.hasOwn(capabilities, name)) features += letter;
  }
  return features;
}

/** Merges the capabilities of the targets, limited to those that the gateway can route. */
export function mergeCapabilities(all: readonly JsonObject[]): JsonObject {
  const merged: Record<string, Record<string, unknown>> = {};
  for (const capabilities of all) {
    for (const name of Object.keys(featureLetters)) {
      if (!Object.hasOwn(capabilities, name)) continue;
      const known = merged[name] ?? {};
      const offered = objectOf(capabilities[name]);
      for (const flag of ["listChanged", "subscribe"]) {
        if (offered[flag] === true) known[flag] = true;
      }
      merged[name] = known;
    }
  }
  return merged;
}

/** The parts of a backend that its instructions are about. */
type InstructedBackend = Pick<McpBackend, "targets" | "owners">;

/** Joins the instructions of the targets, each under the target's name. */
export function joinInstructions(
  { targets, owners }: InstructedBackend,
  results: readonly InitializeResult[],
): string | undefined {
  const parts: string[] = [];
  for (const [at, target] of targets.entries()) {
    const result = results[at];
    if (result?.kind !== "opened" || result.instructions === undefined) continue;
    const prefix = owners === undefined ? ` (names start with ${target.name}_)` : "";
    parts.push(`${target.name}${prefix}:\n${result.instructions}`);
  }
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

/** Returns the value if it is an object; otherwise an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
