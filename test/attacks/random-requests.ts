import fc from "fast-check";
import { onePath } from "./one-path.ts";
import type { EngineRequest } from "./strict-parser.ts";

/** Requests that follow each other on one connection, as they are written. */
export interface Script {
  readonly requests: readonly EngineRequest[];
  /** All of them, in pieces as they are sent. */
  readonly pieces: readonly string[];
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "QUERY"];
const tokenChars = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const pathChars = "abcXYZ019-._~!$&'()*+,;=:@/";
const hex = "0123456789abcdefABCDEF";

const textOf = (
  characters: string,
  size: { readonly minLength: number; readonly maxLength: number },
) => fc.string({ unit: fc.constantFrom(...characters), ...size });

export const octetsOf = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString("latin1"));

const target = fc
  .tuple(
    textOf(pathChars, { minLength: 0, maxLength: 20 }),
    fc.option(textOf(hex, { minLength: 2, maxLength: 2 }), { nil: "" }),
    fc.option(textOf(`${pathChars}?"<>[]{}|^\\`, { minLength: 0, maxLength: 20 }), { nil: "" }),
  )
  .map(([path, octet, query]) => {
    const escaped = octet === "" ? "" : `%${octet}`;
    return `/${path}${escaped}${query === "" ? "" : `?${query}`}`;
  })
  // Input without one normal form is refused.
  .filter((each) => onePath(each) !== undefined);

/** Visible characters and what is above ASCII; spaces and tabs between them. */
const value = octetsOf(30).map((text) =>
  text.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, "x").replace(/^[ \t]+|[ \t]+$/g, ""),
);

const special =
  /^(?:host|content-length|transfer-encoding|expect|upgrade|connection|proxy-.*|te|trailer|keep-alive)$/i;

export const fieldOf = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(
      textOf(tokenChars, { minLength: 1, maxLength: 20 }).filter((name) => !special.test(name)),
      value,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ["Connection", "keep-alive"] as [string, string],
      ["Connection", "X-Hop"] as [string, string],
      ["X-Hop", "gone"] as [string, string],
      ["TE", "trailers"] as [string, string],
      ["Keep-Alive", "timeout=5"] as [string, string],
      ["Proxy-Connection", "keep-alive"] as [string, string],
    ),
  },
);

/** A body and the fields and bytes that carry it. */
const framing = fc.oneof(
  fc.constant({ body: "", fields: "", bytes: "" }),
  octetsOf(40).map((body) => ({ body, fields: `Content-Length: ${body.length}\r\n`, bytes: body })),
  fc
    .tuple(
      fc.array(
        octetsOf(20).filter((text) => text !== ""),
        { maxLength: 4 },
      ),
      fc.boolean(),
    )
    .map(([chunks, hasExtras]) => {
      const extension = hasExtras ? ';name="v"' : "";
      const parts = chunks.map(
        (chunk) => `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`,
      );
      const trailer = hasExtras ? "X-Trailer: v\r\n" : "";
      const bytes = `${parts.join("")}0\r\n${trailer}\r\n`;
      return { body: chunks.join(""), fields: "Transfer-Encoding: chunked\r\n", bytes };
    }),
);

interface Written {
  readonly request: EngineRequest;
  readonly text: string;
}

const request: fc.Arbitrary<Written> = fc
  .record({
    method: fc.constantFrom(...methods),
    target,
    fields: fc.array(fieldOf, { maxLength: 6 }),
    framing,
    space: fc.constantFrom("", " ", "\t", "  "),
  })
  .map(({ method, target: path, fields, framing: { body, fields: framed, bytes }, space }) => {
    const lines = fields.map(([name, text]) => `${name}:${space}${text}\r\n`).join("");
    const text = `${method} ${path} HTTP/1.1\r\nHost: a.test\r\n${lines}${framed}\r\n${bytes}`;
    return { request: { method, target: path, headers: fields, body }, text };
  });

function script(): fc.Arbitrary<{ requests: readonly EngineRequest[]; text: string }> {
  const last: EngineRequest = {
    method: "GET",
    target: "/last",
    headers: [["Connection", "close"]],
    body: "",
  };
  return fc.array(request, { minLength: 1, maxLength: 4 }).map((written) => ({
    requests: [...written.map((each) => each.request), last],
    text: `${written.map((each) => each.text).join("")}GET /last HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`,
  }));
}

/** Pieces of a text. */
export function cutsOf(text: string): fc.Arbitrary<readonly string[]> {
  return fc.array(fc.nat({ max: text.length }), { maxLength: 4 }).map((places) => {
    const sorted = [0, ...places.sort((a, b) => a - b), text.length];
    return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
  });
}

const inserted = [
  "\r",
  "\n",
  "\0",
  " ",
  "\t",
  ":",
  ",",
  ";",
  "x",
  "0",
  "/",
  "\x80",
  "\r\n",
  "\r\n ",
  "\r\n\r\n",
];
const insertedFields = [
  "Content-Length: 5",
  "Content-Length: 0",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: identity",
  "Transfer-Encoding: gzip, chunked",
  "Host: b.test",
  "Connection: close",
  "Connection: content-length, host",
];

export function changeOf(text: string): fc.Arbitrary<string> {
  const at = fc.nat({ max: text.length - 1 });
  return fc.oneof(
    fc.tuple(at, fc.constantFrom(...inserted)).map(([place, what]) => splice(text, place, 0, what)),
    at.map((place) => splice(text, place, 1, "")),
    fc.tuple(at, fc.constantFrom(...inserted)).map(([place, what]) => splice(text, place, 1, what)),
    fc.tuple(at, fc.constantFrom(...insertedFields)).map(([place, what]) => {
      const lineEnd = text.indexOf("\r\n", place);
      return lineEnd === -1 ? text : splice(text, lineEnd, 0, `\r\n${what}`);
    }),
    // A line break without its carriage return, or without its line feed.
    fc.tuple(at, fc.constantFrom("\n", "\r")).map(([place, what]) => {
      const lineEnd = text.indexOf("\r\n", place);
      return lineEnd === -1 ? text : splice(text, lineEnd, 2, what);
    }),
  );
}

function splice(text: string, at: number, count: number, what: string): string {
  return `${text.slice(0, at)}${what}${text.slice(at + count)}`;
}

/** Requests without a mistake; the last one ends the connection. */
export const validScript: fc.Arbitrary<Script> = script().chain(({ requests, text }) =>
  cutsOf(text).map((pieces) => ({ requests, pieces })),
);

/** The same with one small change somewhere, which may make it something else, or nothing. */
export const changedScript: fc.Arbitrary<Script> = script().chain(({ requests, text }) =>
  changeOf(text).chain((changed) => cutsOf(changed).map((pieces) => ({ requests, pieces }))),
);
