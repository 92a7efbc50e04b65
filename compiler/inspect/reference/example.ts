import { stringify } from "yaml";
import { YAML_OUTPUT } from "../../model/yaml-output.ts";
import { fitsForm } from "../../schema/formats.ts";
import { type FormatName, isWritable, type Schema } from "../../schema/schema.ts";

/** Formats a minimal example of a field as YAML. */
export function exampleText(name: string, schema: Schema): string {
  return stringify({ [name]: exampleOf(schema) }, YAML_OUTPUT);
}

/** Returns a minimal value that a schema accepts. */
export function exampleOf(schema: Schema): unknown {
  const { examples, default: value, enum: words, type, additionalProperties } = schema;
  if (examples?.[0] !== undefined) return examples[0];
  if (words?.[0] !== undefined) return words[0];
  const [first] = [type ?? []].flat();
  switch (first) {
    case "object":
      return typeof additionalProperties === "object"
        ? { [keyExample(schema)]: exampleOf(additionalProperties) }
        : objectExample(schema);
    case "array":
      return [exampleOf(schema.items ?? {})];
    case "boolean":
      return value !== true;
    case "integer":
    case "number":
      return typeof value === "number" ? value : Math.max(schema.minimum ?? 0, 1);
    case "string":
      return typeof value === "string" && value !== "" ? value : textExample(schema);
    default:
      return "value";
  }
}

function objectExample(schema: Schema): Readonly<Record<string, unknown>> {
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([, each]) => isWritable(each) && each.aliasOf === undefined,
  );
  const usable = (names: readonly string[] = []) =>
    fields.filter(([name]) => names.includes(name)).slice(0, 1);
  const needed = fields.filter(([name]) => schema.required?.includes(name));
  const chosen = [...usable(schema.exactlyOneOf), ...usable(schema.atLeastOneOf)];
  const wanted = [...needed, ...chosen];
  const shown = wanted.length > 0 ? wanted : fields.slice(0, schema.minProperties ?? 1);
  return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each)]));
}

function keyExample({ propertyNames }: Schema): string {
  return ["NAME", "name"].find((key) => fitsForm(propertyNames ?? {}, key)) ?? "name";
}

function textExample({ secret, expression, format, pattern, minLength = 0 }: Schema): string {
  if (secret === true) return "${NAME}";
  if (expression === true) return 'request.method == "GET"';
  if (format !== undefined) return FORMS[format];
  const fitting =
    TEXTS.find((text) => pattern === undefined || fitsForm({ pattern }, text)) ?? "name";
  return fitting.padEnd(minLength, "-");
}

const FORMS: Readonly<Record<FormatName, string>> = {
  duration: "30s",
  gatewayDuration: "30s",
  url: "https://example.com/keys",
  hostname: "shop.example.com",
  cidr: "10.0.0.0/8",
  ip: "127.0.0.1",
  address: "127.0.0.1:8080",
  "address-or-off": "127.0.0.1:15000",
};

/** Candidates for strings with a pattern; the first match is used. */
const TEXTS: readonly string[] = ["name", "/api", "GET", "https://example.com", "name=value", "1"];
