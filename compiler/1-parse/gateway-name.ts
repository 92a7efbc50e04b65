import path from "node:path";

/** The gateway's name: the first file's, or its folder's when the file has the customary name `gateway.yaml`. */
export function gatewayName([file = ""]: readonly string[]): string {
  if (file === "-") return "gateway";
  const stem = path.basename(path.resolve(file)).replace(/\.(ya?ml|json)$/i, "");
  if (stem !== "gateway") return stem;
  return path.basename(path.dirname(path.resolve(file))) || stem;
}
