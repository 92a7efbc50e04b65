import type { KeyedData, ManifestKind } from "../../manifests/manifests.ts";
import {
  CONTENTS_ANNOTATION,
  type SecretContents,
  secretContents,
  UNKNOWN_CONTENTS,
} from "../../model/secret-contents.ts";
import type { ConfigValue } from "../../schema/config-values.ts";
import { valueOfJson } from "../../schema/value-of-json.ts";
import { objectFields } from "./kubernetes-object.ts";

/** Returns the specification of a resource: its `spec`, or what kinds without one have instead. */
export function specOf(kind: ManifestKind, value: ConfigValue): unknown {
  const document = value as Readonly<Record<string, ConfigValue>>;
  switch (kind) {
    case "Secret":
      return { ...keyedData(document), contents: readSecretContents(document) };
    case "ConfigMap":
      return { ...keyedData(document), contents: UNKNOWN_CONTENTS, texts: textsOf(document.data) };
    case "EndpointSlice":
    case "Namespace":
      return document;
    default:
      return document.spec;
  }
}

/**
 * Checks the known values of a Secret; an empty value is a placeholder for that of the cluster. If the values were
 * removed, an annotation contains the result.
 */
function readSecretContents({
  metadata,
  data,
  stringData,
}: Readonly<Record<string, ConfigValue>>): SecretContents {
  const given = objectFields(objectFields(metadata).annotations)[CONTENTS_ANNOTATION];
  if (typeof given === "string")
    return { ...UNKNOWN_CONTENTS, ...(valueOfJson(given) as Partial<SecretContents> | undefined) };
  const entries = [
    ...Object.entries(objectFields(data)).map(([key, value]) => [key, value, "base64"] as const),
    ...Object.entries(objectFields(stringData)).map(
      ([key, value]) => [key, value, "utf8"] as const,
    ),
  ];
  const values = entries.map(([key, value, encoding]) => {
    const text = typeof value === "string" ? value : "";
    return [key, Buffer.from(text, encoding)] as const;
  });
  return secretContents(new Map(values), true);
}

/** Returns the keys of a Secret; its values go no further than this. */
function keyedData(
  document: Readonly<Record<string, ConfigValue>>,
): Pick<KeyedData, "keys" | "isComplete"> {
  const parts = [document.data, document.stringData, document.binaryData];
  const given = parts.filter((part) => typeof part === "object" && part !== null);
  return {
    keys: given.flatMap((part) => Object.keys(part as object)).sort(),
    isComplete: given.length > 0,
  };
}

function textsOf(data: ConfigValue | undefined): Readonly<Record<string, string>> {
  if (typeof data !== "object" || data === null) return {};
  const texts = Object.entries(data).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(texts);
}
