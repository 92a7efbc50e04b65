/** A flat header list: `[name, value, name, value, ...]`. */
export type HeaderList = readonly string[];

/** Whether a name as received equals the lower-case name `wanted`. */
export function isHeader(sent: string, wanted: string): boolean {
  return sent.length === wanted.length && (sent === wanted || sent.toLowerCase() === wanted);
}

/** Records that a header with several lines was read. */
export interface RepeatRecord {
  hasReadRepeated: boolean;
}

/**
 * Returns the value of a header by lower-case name, with several lines joined; `undefined` if it is absent. A header with
 * several lines is recorded.
 */
export function headerValue(
  list: HeaderList,
  name: string,
  record?: RepeatRecord,
): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < list.length; i += 2) {
    if (isHeader(list[i] ?? "", name)) {
      const next = list[i + 1] ?? "";
      if (value === undefined) value = next;
      else {
        value = joinedLines(name, value, next);
        if (record !== undefined) record.hasReadRepeated = true;
      }
    }
  }
  return value;
}

/** Joins two lines of a header: as a list (RFC 9110 5.3), or as cookies (RFC 9113 8.2.3). */
export function joinedLines(name: string, first: string, second: string): string {
  return name === "cookie" ? `${first}; ${second}` : `${first}, ${second}`;
}

/** Returns the lines of a header by lower-case name. */
export function headerLines(list: HeaderList, name: string): readonly string[] {
  const lines: string[] = [];
  for (let i = 0; i < list.length; i += 2) {
    if (isHeader(list[i] ?? "", name)) lines.push(list[i + 1] ?? "");
  }
  return lines;
}

/**
 * Copies the list without the headers of a lower-case name, and without those that a server which reads `_` as `-` takes for it
 * (CGI, RFC 3875 4.1.18): a client's `X_User` must not pass for the `x-user` that a policy set or removed.
 */
export function withoutHeader(list: HeaderList, name: string): string[] {
  const kept: string[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const sent = list[i] ?? "";
    if (!isHeader(sent, name) && !isLookalike(sent, name)) kept.push(sent, list[i + 1] ?? "");
  }
  return kept;
}

/** Copies the list without the lookalikes of a lower-case name; returns the list itself if it has none. */
export function withoutLookalikes(list: HeaderList, name: string): HeaderList {
  let hasAny = false;
  for (let i = 0; i < list.length && !hasAny; i += 2) hasAny = isLookalike(list[i] ?? "", name);
  if (!hasAny) return list;
  return list.filter((_, i) => !isLookalike(list[i - (i % 2)] ?? "", name));
}

/** Whether some servers read a name as received as the different lower-case name `wanted`. */
function isLookalike(sent: string, wanted: string): boolean {
  if (sent.length !== wanted.length) return false;
  const lower = sent.toLowerCase();
  return lower !== wanted && lower.replaceAll("_", "-") === wanted.replaceAll("_", "-");
}

/** Copies the list without the headers of these lower-case names. */
export function withoutHeaders(list: HeaderList, names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let i = 0; i < list.length; i += 2) {
    const sent = list[i] ?? "";
    if (!names.has(sent.toLowerCase())) kept.push(sent, list[i + 1] ?? "");
  }
  return kept;
}

/** Replaces all headers of a lower-case name by one. */
export function replaceHeader(list: string[], name: string, value: string): void {
  for (let i = list.length - 2; i >= 0; i -= 2) {
    if (isHeader(list[i] ?? "", name)) list.splice(i, 2);
  }
  list.push(name, value);
}

/** Returns every header by lower-case name, with several lines joined. A header with several lines is recorded. */
export function headerMap(list: HeaderList, record?: RepeatRecord): Map<string, string> {
  const map = new Map<string, string>();
  for (let i = 0; i < list.length; i += 2) {
    const name = (list[i] ?? "").toLowerCase();
    const value = list[i + 1] ?? "";
    const before = map.get(name);
    map.set(name, before === undefined ? value : joinedLines(name, before, value));
    if (before !== undefined && record !== undefined) record.hasReadRepeated = true;
  }
  return map;
}
