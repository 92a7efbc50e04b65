import { uriReadings } from "../../../../runtime/mcp/protocol/resource-uri.ts";
import type { CompiledExpression } from "../../../model/expressions.ts";
import type { RequestData } from "./request-data.ts";

/** Maximum number of readings, as in the runtime. */
const MAX_READINGS = 1_000;

/**
 * Returns the readings of a request that expressions distinguish, the joined one first: all lines of a repeated header
 * joined and each by itself, each value of a repeated cookie or query parameter, and the URIs that servers may read a
 * resource's URI as. `undefined` if there are more than the gateway evaluates.
 */
export function requestReadings(
  data: RequestData,
  expressions: readonly CompiledExpression[],
): readonly RequestData[] | undefined {
  const { resource } = Object(data.mcp);
  if (typeof resource?.name === "string") {
    const [, ...others] = uriReadings(resource.name);
    const named = others.map((name) => ({
      ...data,
      mcp: { ...Object(data.mcp), resource: { ...resource, name } },
    }));
    const all = [data, ...named].map((each) => readingsOfRequest(each, expressions));
    return all.some((each) => each === undefined) ? undefined : all.flatMap((each) => each ?? []);
  }
  return readingsOfRequest(data, expressions);
}

function readingsOfRequest(
  data: RequestData,
  expressions: readonly CompiledExpression[],
): readonly RequestData[] | undefined {
  const request = Object(data.request);
  let readings: readonly object[] = [request];
  for (const [name, value] of Object.entries<unknown>(Object(request.headers))) {
    if (!isRead(name.toLowerCase(), expressions)) continue;
    const lines = Array.isArray(value) ? value.map(String) : [String(value)];
    const isCookie = name.toLowerCase() === "cookie";
    const joined = lines.join(isCookie ? "; " : ", ");
    const whole = lines.length > 1 ? [joined, ...lines] : [joined];
    const names = isCookie ? picked(expressions, "cookies") : [];
    const options = whole.flatMap((text) => chosenPairs(text, ";", names, cookieName));
    readings = readings.flatMap((each) => options.map((option) => withHeader(each, name, option)));
    if (readings.length > MAX_READINGS) return undefined;
  }
  const target = request.pathAndQuery ?? request.uri;
  const mark = typeof target === "string" ? target.indexOf("?") : -1;
  if (mark === -1) return readings.map((each) => ({ ...data, request: each }));
  const query = String(target).slice(mark + 1);
  const queries = chosenPairs(query, "&", picked(expressions, "query"), parameterName);
  if (readings.length * queries.length > MAX_READINGS) return undefined;
  return readings.flatMap((each) =>
    queries.map((chosen) => ({ ...data, request: withQuery(each, chosen) })),
  );
}

function isRead(header: string, expressions: readonly CompiledExpression[]): boolean {
  return expressions.some(({ reads }) =>
    reads.some(
      ([root, member = "headers", name = header]) =>
        root === "request" && member === "headers" && name === header,
    ),
  );
}

function picked(
  expressions: readonly CompiledExpression[],
  kind: "cookies" | "query",
): readonly string[] | "any" {
  const lists = expressions.map(({ parameters }) => parameters?.[kind] ?? []);
  return lists.includes("any") ? "any" : [...new Set(lists.flat())];
}

/** Returns the string itself and, for each name with several different pairs, the string with only one of them. */
function chosenPairs(
  text: string,
  separator: string,
  read: readonly string[] | "any",
  nameOf: (pair: string) => string | undefined,
): readonly string[] {
  const pairs = Map.groupBy(text.split(separator), nameOf);
  let chosen: readonly string[] = [text];
  for (const [name, own] of pairs) {
    const distinct = [...new Set(own)];
    if (name === undefined || distinct.length < 2) continue;
    if (read !== "any" && !read.includes(name)) continue;
    chosen = chosen.flatMap((each) => {
      const others = each.split(separator).filter((pair) => nameOf(pair) !== name);
      return [each, ...distinct.map((pair) => [...others, pair].join(separator))];
    });
    if (chosen.length > MAX_READINGS) break;
  }
  return chosen;
}

function cookieName(pair: string): string | undefined {
  const equals = pair.indexOf("=");
  return equals === -1 ? undefined : pair.slice(0, equals).trim();
}

function parameterName(pair: string): string | undefined {
  return new URLSearchParams(pair).keys().next().value;
}

function withHeader(request: object, name: string, value: string): object {
  const { headers } = Object(request);
  return { ...request, headers: { ...headers, [name]: value } };
}

function withQuery(request: object, query: string): object {
  const changed = ["pathAndQuery", "uri"].flatMap((field) => {
    const text: unknown = Object(request)[field];
    if (typeof text !== "string" || !text.includes("?")) return [];
    return [[field, `${text.slice(0, text.indexOf("?"))}?${query}`]];
  });
  return { ...request, ...Object.fromEntries(changed) };
}
