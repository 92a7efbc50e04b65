import { canonicalHost } from "../../http/request-line.ts";
import type { FetchRequest } from "../../http/upstream/fetch-request.ts";
import { methodValue } from "../transformations/changed-line.ts";
import { fieldValue } from "../transformations/field-value.ts";
import type { HeaderValue } from "../transformations/message-changes.ts";

/** Headers and parts of the request line from expressions. */
export interface CheckHeaders extends Pick<FetchRequest, "authority" | "headers"> {
  readonly method: string | undefined;
}

/** Returns the headers from expressions; an invalid authority or method is omitted like a failed value. */
export function checkHeaders(made: readonly HeaderValue[]): CheckHeaders {
  const textOf = (name: string): string | undefined =>
    fieldValue(made.find(([each]) => each === name)?.[1]);
  const authority = textOf(":authority");
  return {
    authority: authority === undefined ? undefined : canonicalHost(authority.toLowerCase()),
    method: methodValue(textOf(":method")),
    headers: made.flatMap(([name, value]) => {
      const text = name.startsWith(":") ? undefined : fieldValue(value);
      return text === undefined ? [] : [name, text];
    }),
  };
}
