import { check } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import type { Echo } from "../harness/echo.ts";
import { type RouteCase, routesText } from "./routes.ts";

/** The codes of what the compiler says about a route. */
export function findings(route: RouteCase, files: Readonly<Record<string, string>> = {}): string[] {
  const nowhere: Echo = { url: "http://127.0.0.1:1", count: () => 0, stop: async () => {} };
  const indented = routesText({ route }, nowhere).replace(/^/gm, "          ");
  const text = `binds:\n  - port: 3000\n    listeners:\n      - routes:\n${indented}\n`;
  const host = memoryHost({ "gateway.yaml": text, ...files });
  const { diagnostics } = check(["gateway.yaml"], host, { name: "test", isStrict: false });
  return diagnostics.map(({ code }) => code);
}
