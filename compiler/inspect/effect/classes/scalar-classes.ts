import { pathKey } from "../data/data-path.ts";
import { CANONICAL_PATH, type StringDomain, stringClasses } from "../strings/string-classes.ts";
import { featureVector, type StringFeature } from "../strings/string-feature.ts";
import type { Work } from "../work/work.ts";

/** Methods that clients use (RFC 9110 9, RFC 5789). */
const METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"];

/** Possible strings of request paths, and readable examples. */
const DOMAINS: Readonly<Record<string, StringDomain>> = {
  "request.path": { pattern: CANONICAL_PATH, plain: ["/other", "/"] },
  "request.method": { pattern: "^[A-Z]+$", plain: METHODS },
  "request.scheme": { pattern: "^https?$", plain: ["http", "https"] },
  "request.version": { pattern: "^HTTP/[12](\\.[01])?$", plain: ["HTTP/1.1", "HTTP/2"] },
  "request.host": {
    pattern: "^[a-z0-9-]+(?:\\.[a-z0-9-]+)*(?::[0-9]+)?$",
    plain: ["other.test"],
  },
  "mcp.methodName": { pattern: undefined, plain: ["tools/call", "tools/list"] },
};

const HEADER: StringDomain = {
  pattern: "^(?:[!-~](?:[ -~]*[!-~])?)?$",
  plain: ["other"],
};

const ANY: StringDomain = { pattern: undefined, plain: ["other"] };

/** Returns the possible strings of a path. */
export function stringDomain(path: readonly string[]): StringDomain {
  const isHeader = pathKey(path.slice(0, 2)) === pathKey(["request", "headers"]);
  return DOMAINS[path.join(".")] ?? (isHeader ? HEADER : ANY);
}

/** Classes of scalar values; `add` returned the number of each class for its example. */
export interface ScalarClasses<Value> {
  readonly classOf: (value: Value) => number;
  readonly isComplete: boolean;
}

/** Divides strings into classes by the features that conditions test. */
export function stringCells(
  features: readonly StringFeature[],
  domain: StringDomain,
  add: (example: string) => number,
  work: Work,
): ScalarClasses<string> {
  const vectorOf = featureVector(features);
  const { examples, isComplete } = stringClasses(features, domain, work);
  const classes = new Map([...examples].map(([vector, example]) => [vector, add(example)]));
  return { classOf: (value) => classes.get(vectorOf(value)) ?? -1, isComplete };
}

/** Divides numbers into classes: each point that conditions compare with, and the ranges between points. */
export function numberCells(
  points: ReadonlySet<number>,
  add: (example: number) => number,
): ScalarClasses<number> {
  const sorted = [...points].sort((a, b) => a - b);
  const [first = 2] = sorted;
  const examples = sorted.flatMap((point, index) => {
    const next = sorted[index + 1];
    return [point, next === undefined ? point + 1 : (point + next) / 2];
  });
  const classes = [first - 1, ...examples].map(add);
  const classOf = (value: number): number => {
    const below = sorted.filter((point) => point < value).length;
    return classes[sorted[below] === value ? 2 * below + 1 : 2 * below] ?? -1;
  };
  return { classOf, isComplete: true };
}
