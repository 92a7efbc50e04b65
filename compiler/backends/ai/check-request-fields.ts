import type { LlmFormatName } from "../../../runtime/llm/chat/formats.ts";
import type { FieldTable } from "../../../runtime/llm/chat/request-fields.ts";
import { completionsFields } from "../../../runtime/llm/formats/completions/request-fields.ts";
import { converseFields } from "../../../runtime/llm/formats/converse/request-fields.ts";
import { embeddingsFields } from "../../../runtime/llm/formats/embeddings/request-fields.ts";
import { generateContentFields } from "../../../runtime/llm/formats/generate-content/request-fields.ts";
import { messagesFields } from "../../../runtime/llm/formats/messages/request-fields.ts";
import { responsesFields } from "../../../runtime/llm/formats/responses/request-fields.ts";
import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Place,
  placeKey,
} from "../../diagnostics/diagnostic.ts";
import { suggest } from "../../diagnostics/suggestion.ts";
import type { Json } from "../../model/json.ts";
import type { Configured, RouteType } from "../../model/llm-policies.ts";
import type { AiProviderNode } from "./ai-node.ts";
import type { LlmEndpoint } from "./providers/provider.ts";

/**
 * Route types whose requests have settable fields: the format that passes unchanged, and the treatment of fields
 * in other formats.
 */
const readTypes: Readonly<
  Partial<Record<RouteType, { readonly native: LlmFormatName; readonly fields: FieldTable }>>
> = {
  Completions: { native: "completions", fields: completionsFields },
  Messages: { native: "messages", fields: messagesFields },
  Responses: { native: "responses", fields: responsesFields },
  GenerateContent: { native: "generateContent", fields: generateContentFields },
  Converse: { native: "converse", fields: converseFields },
  Embeddings: { native: "embeddings", fields: embeddingsFields },
};

/** A field that the configuration sets. */
interface GivenField {
  readonly name: string;
  /** `undefined` if an expression computes it. */
  readonly value: Json | undefined;
  readonly origin: Place;
}

/** A set field with its treatment. */
interface SetField extends GivenField {
  /** Requests and providers that refuse it: `Completions to claude`. */
  readonly refused: string[];
  /** Number of cases in which it is sent to a provider, and in which it is dropped. */
  sent: number;
  dropped: number;
}

/** Reports request fields that are set but cannot be sent to any provider. */
export function checkRequestFields(
  providers: readonly AiProviderNode[],
  types: ReadonlySet<RouteType>,
  diagnostics: Diagnostics,
): void {
  const set = new Map<string, SetField>();
  for (const provider of providers) {
    for (const given of fieldsOf(provider)) {
      const key = placeKey(given.origin);
      const field = set.get(key) ?? { ...given, refused: [], sent: 0, dropped: 0 };
      set.set(key, field);
      for (const type of types) follow(field, type, provider);
    }
  }
  for (const field of set.values()) reportField(field, types, diagnostics);
}

function fieldsOf({ policies }: AiProviderNode): readonly GivenField[] {
  const made = policies?.transformations?.value ?? [];
  return [
    ...membersOf(policies?.defaults),
    ...membersOf(policies?.overrides),
    ...made.map(({ name, origin }) => ({ name, value: undefined, origin })),
  ];
}

function membersOf(
  part: Configured<Readonly<Record<string, Json>>> | undefined,
): readonly GivenField[] {
  if (part === undefined) return [];
  const { value: members, origin } = part;
  return Object.entries(members).map(([name, value]) => {
    return { name, value, origin: childOf(origin, name) };
  });
}

/** Determines the treatment of a field in requests of a type to a provider. */
function follow(field: SetField, type: RouteType, { name, endpoints }: AiProviderNode): void {
  const read = readTypes[type];
  const endpoint = endpoints[type];
  if (read === undefined || endpoint === undefined) return;
  if (formatsOf(endpoint).includes(read.native)) {
    field.sent += 1;
    return;
  }
  const treatment = Object.hasOwn(read.fields, field.name) ? read.fields[field.name] : undefined;
  if (treatment === "dropped") field.dropped += 1;
  else if (treatment === "read" || isHarmless(field, treatment?.refusedUnless)) field.sent += 1;
  else field.refused.push(`${type} to ${name}`);
}

function formatsOf({ format, branches = [] }: LlmEndpoint): readonly LlmFormatName[] {
  return [format, ...branches.map((branch) => branch.format)];
}

/** Whether the value has no effect; for a computed value, whether such a value exists. */
function isHarmless({ value }: GivenField, harmless: readonly unknown[] = []): boolean {
  if (value === undefined) return harmless.length > 0;
  return harmless.some((each) => JSON.stringify(each) === JSON.stringify(value));
}

function reportField(
  { name, origin, refused, sent, dropped }: SetField,
  types: ReadonlySet<RouteType>,
  diagnostics: Diagnostics,
): void {
  const at = keyPlace(origin);
  const tables = Object.values(readTypes).map(({ fields }) => fields);
  const isKnown = tables.some((fields) => Object.hasOwn(fields, name));
  const known = [...types].flatMap((type) => Object.keys(readTypes[type]?.fields ?? {}));
  const suggestion = isKnown || name.length < MIN_LENGTH ? undefined : suggest(name, known);
  if (suggestion !== undefined) {
    diagnostics.report("misspelt-request-field", at, { name, suggestion });
  } else if (refused.length > 0) {
    diagnostics.report("untranslated-request-field", at, { name, refused });
  } else if (sent === 0 && dropped > 0) {
    diagnostics.report("dropped-request-field", at, { name });
  }
}

/** Minimum length of a name to compare: short names resemble each other by chance. */
const MIN_LENGTH = 5;
