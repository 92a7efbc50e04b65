import path from "node:path";

/** Returns the default name of a gateway: the name of its file without the extension. */
export function gatewayName([file = ""]: readonly string[]): string {
  return file === "-" ? "gateway" : path.basename(file).replace(/\.(ya?ml|json)$/i, "");
}
