import fc from "fast-check";
import { changeOf, cutsOf, fieldOf, octetsOf } from "./random-requests.ts";

/** A response as an upstream writes it. */
export interface WrittenResponse {
  readonly method: string;
  readonly pieces: readonly string[];
  /** The connection ends behind it. */
  readonly closes: boolean;
}

const framing = fc.oneof(
  octetsOf(60).map((body) => ({ fields: `Content-Length: ${body.length}\r\n`, bytes: body })),
  fc
    .array(
      octetsOf(20).filter((text) => text !== ""),
      { maxLength: 4 },
    )
    .map((chunks) => {
      const parts = chunks.map((chunk) => `${chunk.length.toString(16)};x=y\r\n${chunk}\r\n`);
      const fields = "Transfer-Encoding: chunked\r\n";
      return { fields, bytes: `${parts.join("")}0\r\nX-Trailer: y\r\n\r\n` };
    }),
);

const interim = fc.constantFrom("", "", "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");

const text = fc
  .record({
    status: fc.constantFrom(200, 201, 206, 301, 400, 404, 500, 503, 599),
    reason: fc.constantFrom("OK", "", "Not what you think"),
    fields: fc.array(fieldOf, { maxLength: 5 }),
    framing,
    interim,
  })
  .map(({ status, reason, fields, framing: { fields: framed, bytes }, interim: before }) => {
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return `${before}HTTP/1.1 ${status} ${reason}\r\n${lines}${framed}\r\n${bytes}`;
  });

const bodiless = fc
  .tuple(fc.constantFrom(204, 304), fc.array(fieldOf, { maxLength: 5 }))
  .map(([status, fields]) => {
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return `HTTP/1.1 ${status} x\r\n${lines}\r\n`;
  });

const untilTheEnd = octetsOf(60).map((body) => `HTTP/1.1 200 OK\r\nX: y\r\n\r\n${body}`);

const written = fc.oneof(
  { weight: 6, arbitrary: text.map((bytes) => ({ method: "GET", bytes, closes: false })) },
  { weight: 1, arbitrary: bodiless.map((bytes) => ({ method: "GET", bytes, closes: false })) },
  { weight: 1, arbitrary: untilTheEnd.map((bytes) => ({ method: "GET", bytes, closes: true })) },
);

/** Responses without a mistake. */
export const validResponse: fc.Arbitrary<WrittenResponse> = written.chain(
  ({ method, bytes, closes }) => cutsOf(bytes).map((pieces) => ({ method, pieces, closes })),
);

/** The same with one small change somewhere. */
export const changedResponse: fc.Arbitrary<WrittenResponse> = written.chain(
  ({ method, bytes, closes }) =>
    changeOf(bytes)
      .chain(cutsOf)
      .map((pieces) => ({ method, pieces, closes })),
);
