import type { Text } from "../../../compiler/model/texts.ts";
import { code, literal } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

/** Writes the address of an upstream; one that starts with a variable is checked when the gateway starts. */
export function upstreamUrl(url: Text, isSecure: boolean): Text | Code {
  if (typeof url === "string" || typeof url.parts[0] === "string") return url;
  const read = imported("gwc/runtime/process/startup-values", isSecure ? "httpsUrl" : "httpUrl");
  return code`${read}(${literal(url)})`;
}
