import type { HeaderList } from "../headers/header-list.ts";
import { isFieldValue, isToken } from "./fields.ts";

/** Fields as lines of HTTP/1.1, each with its line break; undefined: one of them would not stay what it is. */
export function fieldLines(headers: HeaderList): string | undefined {
  let lines = "";
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? "";
    const value = headers[i + 1] ?? "";
    if (!isToken(name) || !isFieldValue(value)) return undefined;
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
