import { randomUUID } from "node:crypto";
import type { OpenApiBody, OpenApiPart } from "./openapi-tool.ts";
import { argumentsIn, argumentText, formText, isObjectArgument } from "./openapi-values.ts";

/** A body with its media type, or why it cannot be written. */
export type WrittenBody =
  | { readonly kind: "body"; readonly type: string; readonly body: string | Uint8Array }
  | { readonly kind: "problem"; readonly problem: string };

/** Writes the body of a tool call in the form of the document. */
export function writeBody(form: OpenApiBody | undefined, value: unknown): WrittenBody {
  switch (form?.kind) {
    case undefined:
      return { kind: "body", type: "application/json", body: JSON.stringify(value) };
    case "form": {
      const body = formText(argumentsIn(value), form.styles);
      return body === undefined
        ? problem('a value of "body" is not well-formed Unicode')
        : { kind: "body", type: "application/x-www-form-urlencoded", body };
    }
    case "multipart":
      return multipart(argumentsIn(value), form.parts);
    case "text":
      return { kind: "body", type: form.type, body: argumentText(value) };
    case "bytes": {
      const bytes = bytesOf(value);
      return bytes === undefined
        ? problem('"body" is not base64')
        : { kind: "body", type: form.type, body: bytes };
    }
  }
}

function problem(text: string): WrittenBody {
  return { kind: "problem", problem: text };
}

/** Writes `multipart/form-data` (RFC 7578): each item of a list is a part, and null has no part. */
function multipart(
  given: Readonly<Record<string, unknown>>,
  parts: Readonly<Record<string, OpenApiPart>> = {},
): WrittenBody {
  const boundary = randomUUID();
  const pieces: Buffer[] = [];
  for (const [name, value] of Object.entries(given)) {
    const { type, isFile } = (Object.hasOwn(parts, name) ? parts[name] : undefined) ?? {};
    for (const item of value === null ? [] : Array.isArray(value) ? value : [value]) {
      const bytes = isFile === true ? bytesOf(item) : Buffer.from(argumentText(item));
      if (bytes === undefined) return problem(`"${name}" of "body" is not base64`);
      const media = type ?? (isObjectArgument(item) ? "application/json" : undefined);
      const shown = quoted(name);
      const head = [
        `--${boundary}`,
        `content-disposition: form-data; name=${shown}${isFile === true ? `; filename=${shown}` : ""}`,
        ...(media === undefined ? [] : [`content-type: ${media}`]),
      ];
      pieces.push(Buffer.from(`${head.join("\r\n")}\r\n\r\n`), bytes, Buffer.from("\r\n"));
    }
  }
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
  return { kind: "body", type: `multipart/form-data; boundary=${boundary}`, body };
}

/** Quotes a name of a part as browsers do (WHATWG HTML, multipart/form-data encoding). */
function quoted(name: string): string {
  const escaped = name
    .replaceAll("\n", "%0A")
    .replaceAll("\r", "%0D")
    .replaceAll('"', "%22")
    .replaceAll("\0", "%00");
  return `"${escaped}"`;
}

/** Returns the bytes of a string in base64; `undefined` for anything else. */
function bytesOf(value: unknown): Buffer | undefined {
  if (typeof value !== "string" || !BASE64.test(value)) return undefined;
  return Buffer.from(value, "base64");
}

/** Base64 in either alphabet (RFC 4648 4 and 5), with line breaks. */
const BASE64 = /^[A-Za-z0-9+/_\-\r\n]*={0,2}[\r\n]*$/;
