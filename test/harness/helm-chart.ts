import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { kubernetesBinary, type TestObject } from "./kubernetes-api.ts";
import { root } from "./root.ts";

/** The chart as users get it. */
export const chartFolder: string = path.join(root, "out", "helm", "gwc");

const helm = kubernetesBinary("helm");

/** Why the chart cannot be rendered; `undefined` if it can. */
export function missingHelm(): string | undefined {
  return existsSync(helm) ? undefined : `${helm} is not there`;
}

/** Returns the output of helm; throws its errors. */
export function runHelm(...argv: readonly string[]): string {
  return execFileSync(helm, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** The manifests of the chart with options of helm, as text. */
export function renderedText(...options: readonly string[]): string {
  const place = ["--namespace", "gwc-system", "--kube-version", "1.35"];
  return runHelm("template", "gwc", chartFolder, ...place, ...options);
}

/** The same as objects. */
export function rendered(...options: readonly string[]): readonly TestObject[] {
  return parseAllDocuments(renderedText(...options)).map((each) => each.toJS() as TestObject);
}
