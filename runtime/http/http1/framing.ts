import { type HeaderList, isHeader } from "../headers/header-list.ts";

/** What a head says of what follows it (RFC 9112 6, 9). */
export interface Http1Framing {
  /** Bytes of the body; undefined: it says no number. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  /** The options of Connection, lower case, in one list; empty without any. */
  readonly connection: string;
  /** The value of Expect; undefined without one. */
  readonly expect: string | undefined;
  /** The values of TE in one list; empty without any. */
  readonly te: string;
  /** The values of Keep-Alive in one list; empty without any. */
  readonly keepAlive: string;
}

/**
 * Reads the framing of a message from its fields; a string is what is wrong. `head` is the text that they stand in. Two
 * readers might not agree where a message ends, so nothing is forgiven (RFC 9112 11.2).
 */
export function readFraming(headers: HeaderList, head: string): Http1Framing | string {
  let length: number | undefined;
  let isChunked = false;
  let [connection, te, keepAlive] = ["", "", ""];
  let expect: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    switch (name.length) {
      case 2:
        if (isHeader(name, "te")) te += `,${value}`;
        break;
      case 6:
        if (isHeader(name, "expect")) expect = expect === undefined ? value : `${expect}, ${value}`;
        break;
      case 10:
        if (isHeader(name, "connection")) connection += `,${value.toLowerCase()}`;
        else if (isHeader(name, "keep-alive")) keepAlive += `,${value}`;
        break;
      case 14:
        if (!isHeader(name, "content-length")) break;
        if (length !== undefined || !digits.test(value)) return "no valid Content-Length";
        length = Number(value);
        if (!Number.isSafeInteger(length)) return "no valid Content-Length";
        break;
      case 17:
        if (!isHeader(name, "transfer-encoding")) break;
        // llhttp takes a tab for a part of the word.
        if (isChunked || value.toLowerCase() !== "chunked" || codingWithTab.test(head)) {
          return "a transfer coding but chunked";
        }
        isChunked = true;
        break;
    }
  }
  if (isChunked && length !== undefined) return "Content-Length beside Transfer-Encoding";
  return { length, isChunked, connection, expect, te, keepAlive };
}

/** Whether the options of Connection leave the connection to another message. `isOld`: it is one of HTTP/1.0. */
export function keepsConnection(connection: string, isOld: boolean): boolean {
  return isOld
    ? keepAliveToken.test(connection)
    : connection === "" || !closeToken.test(connection);
}

const codingWithTab = /^transfer-encoding:[^\r]*\t/im;
const digits = /^\d{1,16}$/;
const closeToken = /(?:^|,)\s*close\s*(?:,|$)/;
const keepAliveToken = /(?:^|,)\s*keep-alive\s*(?:,|$)/;
