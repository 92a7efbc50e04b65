import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { routesConfig } from "../harness/routes-gateway.ts";
import { nowhere, type RouteCase, routesText } from "./routes.ts";

/** Returns the codes of the compiler's messages about a route. */
export function findings(route: RouteCase, files: Readonly<Record<string, string>> = {}): string[] {
  const text = routesConfig(routesText({ route }, nowhere), 3000);
  const host = memoryHost({ "gateway.yaml": text, ...files });
  const { diagnostics } = checkFiles(["gateway.yaml"], host, { name: "test", isStrict: false });
  return diagnostics.map(({ code }) => code);
}
