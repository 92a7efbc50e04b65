import type { EnvTemplate, EnvVariable } from "../../compiler/model/texts.ts";
import {
  brokenGroup,
  brokenOnly,
  code,
  filled,
  group,
  indented,
  join,
  LINE,
  literal,
  pieces,
  SOFT,
  verbatim,
} from "./code.ts";
import {
  type Code,
  type Hole,
  type ImportSymbol,
  isHole,
  type Piece,
  type Printable,
} from "./hole.ts";
import { imported } from "./names.ts";
import { propertyName, stringLiteral } from "./quote.ts";

/** Lays out data as a literal, with the line breaks of `biome format`. `nameOf`: the local name of an import. */
export function laidOutLiteral(value: Printable, nameOf: (symbol: ImportSymbol) => string): Piece {
  if (isArray(value)) return listOf(value, nameOf);
  if (isHole(value)) {
    return value.kind === "extension" ? recordOf(value.fields, nameOf, value.base) : value;
  }
  if (isEnvTemplate(value)) return envTemplate(value);
  if (isRecord(value)) return recordOf(value, nameOf);
  return typeof value === "string" ? stringLiteral(value) : String(value);
}

function listOf(items: readonly Printable[], nameOf: (symbol: ImportSymbol) => string): Piece {
  if (items.length === 0) return "[]";
  const areNumbers = items.length > 1 && items.every((item) => typeof item === "number");
  const content = areNumbers
    ? filled(items.map(String))
    : join(
        items.map((item) => pieces([laidOutLiteral(item, nameOf)])),
        pieces([",", LINE]),
      );
  const isTable =
    items.length > 1 && (items.every(hasSeveralItems) || items.every(hasSeveralFields));
  const form = isTable ? brokenGroup : group;
  return form("[", indented(SOFT, content, brokenOnly(",")), SOFT, "]");
}

function hasSeveralItems(item: Printable): boolean {
  return isArray(item) && item.length > 1;
}

function hasSeveralFields(item: Printable): boolean {
  return isRecord(item) && !isHole(item) && !isEnvTemplate(item) && fieldsOf(item).length > 1;
}

function recordOf(
  record: { readonly [key: string]: Printable | undefined },
  nameOf: (symbol: ImportSymbol) => string,
  base?: ImportSymbol,
): Piece {
  const fields = fieldsOf(record);
  if (fields.length === 0) return "{}";
  const properties = fields.map(([key, item]) => propertyOf(key, item, nameOf));
  const spread = base === undefined ? [] : [pieces(["...", base])];
  const content = join([...spread, ...properties], pieces([",", LINE]));
  return group("{", indented(LINE, content, brokenOnly(",")), LINE, "}");
}

/** Keys shorter than this are on the line of their string. */
const SHORT_KEY = 5;

function propertyOf(key: string, item: Printable, nameOf: (symbol: ImportSymbol) => string): Hole {
  const spelled = propertyName(key);
  if (isHole(item) && nameIn(item, nameOf) === key) return pieces([spelled]);
  const laid = laidOutLiteral(item, nameOf);
  return typeof item === "string" && spelled.length >= SHORT_KEY
    ? group(`${spelled}:`, indented(LINE, laid))
    : pieces([`${spelled}: `, laid]);
}

/** Returns the name if a hole is only a name. */
function nameIn(hole: Hole, nameOf: (symbol: ImportSymbol) => string): string | undefined {
  if (!("kind" in hole)) return undefined;
  if (hole.kind === "name") return hole.text;
  if (hole.kind === "import") return nameOf(hole);
  if (hole.kind !== "code") return undefined;
  const [only, ...others] = hole.parts.filter((part) => part !== "");
  if (typeof only === "string" || only === undefined || others.length > 0) return undefined;
  return nameIn(only, nameOf);
}

function fieldsOf(record: {
  readonly [key: string]: Printable | undefined;
}): readonly (readonly [string, Printable])[] {
  return Object.entries(record).flatMap(([key, item]) =>
    item === undefined ? [] : [[key, item] as const],
  );
}

/** The function of the runtime that reads a variable, and checks it for its place in a URL. */
type EnvReader = "env" | "hostPart" | "pathPart" | "authorityAndPath";

/** Returns the reader of a variable by the text before it; `isLast` if nothing follows. */
function readerAfter(before: string, isLast: boolean): EnvReader {
  const [, afterScheme] = /:\/\/(.*)$/s.exec(before) ?? [];
  if (afterScheme === undefined) return "env";
  if (afterScheme === "" && isLast) return "authorityAndPath";
  return /[/?#]/.test(afterScheme) ? "pathPart" : "hostPart";
}

/** Writes a string with variables that are read at start, or the URL that follows from it. */
function envTemplate({ url, ...template }: EnvTemplate): Code {
  const text = variablesCode(template);
  if (url === undefined) return text;
  return code`${imported("gwc/runtime/auth/oauth/issuer-url", "issuerUrl")}(${literal(url)}, ${text})`;
}

/** Writes `env("HOST")`, or a template literal around it. */
function variablesCode({ parts }: Pick<EnvTemplate, "parts">): Code {
  const call = (part: EnvVariable, reader: EnvReader): Code => {
    const read = imported("gwc/runtime/process/startup-values", reader);
    return part.fallback === undefined
      ? code`${read}(${literal(part.env)})`
      : code`${read}(${literal(part.env)}, ${literal(part.fallback)})`;
  };
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string")
    return call(only, "env");
  let before = "";
  const pieces = parts.map((part, index) => {
    if (typeof part === "string") {
      before += part;
      return verbatim(part.replace(/[`\\]|\$\{/g, (found) => `\\${found}`));
    }
    const reader = readerAfter(before, index === parts.length - 1);
    before += "x";
    return join([verbatim("${"), call(part, reader), verbatim("}")], "");
  });
  return join([verbatim("`"), ...pieces, verbatim("`")], "");
}

function isArray(value: Printable): value is readonly Printable[] {
  return Array.isArray(value);
}

function isEnvTemplate(value: Printable): value is EnvTemplate {
  return isRecord(value) && value.kind === "env";
}

function isRecord(
  value: Printable | undefined,
): value is { readonly [key: string]: Printable | undefined } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
