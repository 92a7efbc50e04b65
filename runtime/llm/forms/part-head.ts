/** Name and kind of a part. */
export interface PartHead {
  readonly name: string;
  readonly isFile: boolean;
}

/** Reads the head of a part; returns what is wrong with it as a string. */
export function readPartHead(head: string): PartHead | string {
  const headers = new Map<string, string>();
  for (const line of head.split("\r\n")) {
    const [, name = "", value = ""] = /^([A-Za-z0-9-]+):[ \t]*([^\r\n\0]*)$/.exec(line) ?? [];
    if (name === "") return "a part has a malformed header";
    const key = name.toLowerCase();
    if (headers.has(key)) return `a part repeats "${key}"`;
    headers.set(key, value.trim());
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!["binary", "8bit", "7bit"].includes(encoding)) return "a part is encoded";
  const type = headers.get("content-type") ?? "";
  if (/^multipart\//i.test(type)) return "a part has parts";
  const found = readDisposition(headers.get("content-disposition") ?? "");
  if (typeof found === "string" || found.isFile) return found;
  const charset = /;\s*charset="?([^";\s]*)/i.exec(type)?.[1];
  const isKnown = charset === undefined || /^(?:utf-?8|us-ascii)$/i.test(charset);
  return isKnown ? found : `"${found.name}" is not UTF-8`;
}

/** Whether a name of a field means the same to all servers. */
export function isPlainName(name: string): boolean {
  return /^[\w.[\]-]{1,128}$/.test(name);
}

/** Reads `form-data; name="file"; filename="a.wav"`. */
function readDisposition(value: string): PartHead | string {
  const [first = ""] = /^form-data\s*/i.exec(value) ?? [];
  if (first === "") return "a part has no Content-Disposition";
  const params = new Map<string, string>();
  let rest = value.slice(first.length);
  while (rest !== "") {
    const [whole = "", key = "", quoted, bare] = PARAMETER.exec(rest) ?? [];
    const name = key.toLowerCase();
    // Servers differ on which of two values counts, and whether a backslash escapes a quote.
    const isClear = whole !== "" && !params.has(name) && !quoted?.endsWith("\\");
    if (!isClear || !KNOWN.has(name)) return "a part has an unclear Content-Disposition";
    params.set(name, quoted ?? bare ?? "");
    rest = rest.slice(whole.length);
  }
  const name = params.get("name") ?? "";
  if (!isPlainName(name)) return "the name of a part is missing or not plain";
  return { name, isFile: params.has("filename") || params.has("filename*") };
}

const PARAMETER = /^;\s*([\w*]+)=(?:"([^"]*)"|([^\s";]+))\s*/;

const KNOWN: ReadonlySet<string> = new Set(["name", "filename", "filename*"]);
