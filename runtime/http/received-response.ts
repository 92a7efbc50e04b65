import type { ResponseVariables } from "../cel/variables.ts";
import { headerMap, headerValue } from "./headers/header-list.ts";

/** A response as expressions see it. */
export class ReceivedResponse implements ResponseVariables {
  readonly status: number;
  readonly headers: readonly string[];
  bufferedBody: Uint8Array | undefined;

  constructor(status: number, headers: readonly string[]) {
    this.status = status;
    this.headers = headers;
  }

  header(name: string): string | undefined {
    return headerValue(this.headers, name);
  }

  headerMap(): ReadonlyMap<string, string> {
    return headerMap(this.headers);
  }
}
