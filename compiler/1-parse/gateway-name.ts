import path from "node:path";

/** What a gateway is called that has no name in its configuration: as the file, without its extension. */
export function gatewayName([file = ""]: readonly string[]): string {
  return file === "-" ? "gateway" : path.basename(file).replace(/\.(ya?ml|json)$/i, "");
}
