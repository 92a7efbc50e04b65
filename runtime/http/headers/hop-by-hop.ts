import { NameBeginnings } from "./header-lines.ts";
import { type HeaderList, isHeader, withoutHeaders } from "./header-list.ts";

/**
 * Headers (lower case) that belong to one connection: RFC 9110 7.6.1, the fields of the connection's framing (Content-Length,
 * Transfer-Encoding, Trailer, Expect) and proxy credentials (11.7).
 */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const beginnings = new NameBeginnings(HOP_BY_HOP);

/** Whether a name as received may be one of them. */
function mayBeHopByHop(sent: string): boolean {
  return beginnings.mayHave(sent.length, sent.charCodeAt(0));
}

/**
 * Copies the headers for the next connection, without those that Connection names. `skip`: one more lower-case name to leave
 * out.
 */
export function endToEnd(list: HeaderList, skip: string): string[] {
  const kept: string[] = [];
  let named: Set<string> | undefined;
  for (let i = 0; i < list.length; i += 2) {
    const sent = list[i] ?? "";
    const value = list[i + 1] ?? "";
    if (isHeader(sent, skip)) continue;
    if (mayBeHopByHop(sent)) {
      const name = sent.toLowerCase();
      if (HOP_BY_HOP.has(name)) {
        if (name === "connection") named = addNamed(named, value);
        continue;
      }
    }
    kept.push(sent, value);
  }
  return named === undefined ? kept : withoutHeaders(kept, named);
}

function addNamed(named: Set<string> | undefined, value: string): Set<string> | undefined {
  // Value of nearly every Connection.
  if (value === "keep-alive" || value === "close") return named;
  let names = named;
  for (const option of value.split(",")) {
    const name = option.trim().toLowerCase();
    if (name === "" || name === "close" || HOP_BY_HOP.has(name)) continue;
    names ??= new Set();
    names.add(name);
  }
  return names;
}
