import type { HeaderList } from "../headers/header-list.ts";
import { isBlank, isFieldValue, isToken } from "../http1/fields.ts";
import { lengthOf } from "../http1/received-fields.ts";

/** What the fields of a request say of its host, its body and its connection. */
export interface FramingFields {
  /** How many there are. */
  readonly count: number;
  /** The value of Host; undefined without one. */
  readonly host: string | undefined;
  readonly hasTwoHosts: boolean;
  /** Bytes of the body; undefined: it says no number. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  /** A transfer coding is named that is not chunked, or one twice. Absent: who read them has refused that. */
  readonly hasOtherCoding?: boolean;
  /** Connection says more than `keep-alive` or `close`: fields that it names end here. */
  readonly namesConnectionHeaders: boolean;
  /** The value of Expect; undefined without one. */
  readonly expect: string | undefined;
  /** Why one of them can't be a field. Absent: who read them has refused that. */
  readonly fault?: string | undefined;
}

/** Reads the same from a list, which no parser of HTTP/1.1 has looked at. */
export function framingFields(list: HeaderList): FramingFields {
  let host: string | undefined;
  let [length, lengths]: [number | undefined, number] = [undefined, 0];
  let expect: string | undefined;
  let fault: string | undefined;
  let [hasTwoHosts, isChunked, hasOtherCoding, namesConnectionHeaders] = [
    false,
    false,
    false,
    false,
  ];
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? "";
    const value = list[i + 1] ?? "";
    fault ??= fieldFault(name, value);
    switch (name.toLowerCase()) {
      case "host":
        hasTwoHosts ||= host !== undefined;
        host = value;
        break;
      case "connection":
        namesConnectionHeaders ||= !/^\s*(?:keep-alive|close)\s*$/i.test(value);
        break;
      case "content-length":
        length = lengthOf(value);
        lengths += 1;
        if (length === undefined || lengths > 1) fault ??= "no valid Content-Length";
        break;
      case "expect":
        expect = expect === undefined ? value : `${expect}, ${value}`;
        break;
      case "transfer-encoding":
        hasOtherCoding ||= isChunked || value.toLowerCase() !== "chunked";
        isChunked = true;
        break;
    }
  }
  const count = list.length / 2;
  return {
    count,
    host,
    hasTwoHosts,
    length,
    isChunked,
    hasOtherCoding,
    namesConnectionHeaders,
    expect,
    fault,
  };
}

/** RFC 9113 8.2.1: blanks around a value are no part of HTTP/2's syntax, so they would be part of the value. */
function fieldFault(name: string, value: string): string | undefined {
  if (!isToken(name)) return "a field without a valid name";
  if (!isFieldValue(value)) return "a character that no field has";
  const isPadded = isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1));
  return isPadded ? "a blank around a value" : undefined;
}
