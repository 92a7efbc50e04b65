import type { HeaderList } from "../headers/header-list.ts";

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
}

/** The same of a list. */
export function framingFields(list: HeaderList): FramingFields {
  let host: string | undefined;
  let length: number | undefined;
  let [hasTwoHosts, isChunked, hasOtherCoding, namesConnectionHeaders] = [
    false,
    false,
    false,
    false,
  ];
  for (let i = 0; i < list.length; i += 2) {
    const value = list[i + 1] ?? "";
    switch (list[i]?.toLowerCase()) {
      case "host":
        hasTwoHosts ||= host !== undefined;
        host = value;
        break;
      case "connection":
        namesConnectionHeaders ||= !/^\s*(?:keep-alive|close)\s*$/i.test(value);
        break;
      case "content-length":
        length = Number(value);
        break;
      case "transfer-encoding":
        hasOtherCoding ||= isChunked || value.toLowerCase() !== "chunked";
        isChunked = true;
        break;
    }
  }
  const count = list.length / 2;
  return { count, host, hasTwoHosts, length, isChunked, hasOtherCoding, namesConnectionHeaders };
}
