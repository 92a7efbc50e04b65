import path from "node:path";
import { Document, isMap, parseDocument } from "yaml";
import { locate } from "../diagnostics/source.ts";
import { type Host, overlaidHost } from "../host.ts";
import { routeDecisions } from "../inspect/review/access-review.ts";
import type { CellDecision } from "../inspect/review/cell-decision.ts";
import type { ReviewedResource } from "../inspect/review/resources.ts";
import type { CallerClass } from "../inspect/review/subjects.ts";
import { runTests } from "../inspect/tests/run-tests.ts";
import type { GatewayTest } from "../inspect/tests/test-schema.ts";
import { mcpTargets } from "../ir/backend-text.ts";
import type { BindNode, RouteNode } from "../ir/program.ts";
import { itemPrefix } from "../model/item-prefix.ts";
import { expressionAt } from "./cel-position.ts";
import type { DocumentContext } from "./document-context.ts";
import type { Project } from "./project.ts";
import { routesWithRule } from "./ruled-routes.ts";

/** Maximum number of tests that are tried for a rule. */
const MAX_TRIED = 20;

/** A test file with a new test. */
export interface FileWithTest {
  readonly path: string;
  readonly text: string;
  /** Name of the new test. */
  readonly name: string;
}

/** A tool, prompt or resource by the name that its server has for it. */
interface ServerItem {
  readonly kind: "tool" | "prompt" | "resource";
  readonly name: string;
}

/** A request that a rule decides. */
interface DecidedRequest {
  readonly bind: BindNode;
  readonly route: RouteNode;
  readonly resource: ReviewedResource;
  readonly subject: CallerClass;
  /** Whether all callers are the same for the rules of the route. */
  readonly isAnyone: boolean;
  readonly isAllowed: boolean;
}

/**
 * Returns the test file of a configuration with a test of the rule at an offset: a request that this rule decides. The test was
 * run, and it passes. Returns the reason as a string if there is no such request.
 */
export async function fileWithTestOf(
  context: DocumentContext,
  offset: number,
  host: Host,
): Promise<FileWithTest | string> {
  const { project } = context;
  const rule = expressionAt(context, offset)?.text;
  if (rule === undefined) return "there is no rule here";
  if (project === undefined || project.checked.programs.length === 0)
    return "the configuration has mistakes";
  const file = context.tests()[0]?.path ?? newTestFile(context.path);
  const read = host.readText(file);
  const before = read.kind === "text" ? read.text : "";
  for (const decided of requestsAt(context, project, rule, offset).slice(0, MAX_TRIED)) {
    const test = testOf(decided, rule);
    const text = withTest(before, test, decided.resource);
    if (text === undefined) return `${path.basename(file)} has mistakes`;
    const { verdicts } = await runTests(
      [file],
      project.checked,
      overlaidHost(host, new Map([[file, text]])),
    );
    const verdict = verdicts.findLast(({ name }) => name === test.name);
    if (verdict?.diagnostics.length === 0) return { path: file, text, name: test.name };
  }
  return "no request was found that this rule decides in the same way whatever else it contains";
}

/** Returns the name of the test file for a configuration without one. */
function newTestFile(file: string): string {
  return path.join(path.dirname(file), "access.test.yaml");
}

/** Finds requests whose outcome the rule at an offset decides. */
function requestsAt(
  { path: file }: DocumentContext,
  project: Project,
  rule: string,
  offset: number,
): readonly DecidedRequest[] {
  const { files } = project.checked;
  const isHere = ({ outcome, origin }: CellDecision) => {
    if (outcome === "depends") return false;
    const found = locate(origin, files);
    return path.resolve(found.path) === file && found.start <= offset && offset <= found.end;
  };
  return routesWithRule(project, rule).flatMap(({ bind, listener, route }) => {
    const { subjects, rows } = routeDecisions(route, listener);
    const isAnyone = subjects.length === 1;
    return rows.flatMap(({ resource, decisions }) =>
      subjects.flatMap((subject, index): readonly DecidedRequest[] => {
        const decision = decisions[index];
        if (decision === undefined || !isHere(decision)) return [];
        const isAllowed = decision.outcome === "yes";
        return [{ bind, route, resource, subject, isAnyone, isAllowed }];
      }),
    );
  });
}

/** Writes a request as a test. */
function testOf(decided: DecidedRequest, rule: string): GatewayTest {
  const { bind, route, resource, subject, isAllowed } = decided;
  const { jwt, apiKey, basicAuth } = subject.identities;
  const user: unknown = Object(basicAuth).username;
  const identities = {
    ...(jwt !== undefined && { jwt: Object(jwt) }),
    ...(apiKey !== undefined && { apiKey: Object(apiKey) }),
    ...(typeof user === "string" && { basicAuth: user }),
  };
  return {
    name: `${callersText(decided)} use ${resource.name}`,
    ...requestOf(resource, bind, route),
    ...(Object.keys(identities).length > 0 && { as: identities }),
    expect: { allowed: isAllowed, rule },
  };
}

/** Words for the callers of a request and whether it is allowed: `callers with jwt.sub == "ann" may`. */
function callersText({ subject, isAnyone, isAllowed }: DecidedRequest): string {
  if (isAnyone) return isAllowed ? "anyone may" : "nobody may";
  const { when, unless, credentials } = subject;
  const conditions = [...when, ...unless.map((each) => `not ${each}`)];
  const known = conditions.length === 0 ? credentials : conditions;
  const who = known.length === 0 ? "without credentials" : `with ${known.join(" and ")}`;
  return `callers ${who} ${isAllowed ? "may" : "may not"}`;
}

function requestOf(
  resource: ReviewedResource,
  bind: BindNode,
  route: RouteNode,
): Pick<GatewayTest, "request" | "tool" | "prompt" | "resource" | "model" | "route"> {
  const { kind, data, name } = resource;
  if (kind === "model") return { model: name, route: route.name };
  const item = itemOf(resource);
  if (item !== undefined)
    return { [item.kind]: clientName(item, resource, route), route: route.name };
  const { method, host, path: place } = Object(data.request);
  const scheme = bind.tls === undefined ? "http" : "https";
  const server = host === "any" || host === "*" ? "localhost" : String(host);
  return { request: `${method} ${scheme}://${server}:${bind.port}${place}` };
}

/** Returns the name by which clients use an item: with the name of its server if there are several. */
function clientName(
  { kind, name }: ServerItem,
  { target }: ReviewedResource,
  { backends }: RouteNode,
): string {
  if (target === undefined || backends.flatMap(mcpTargets).length < 2) return name;
  return `${itemPrefix(target, kind)}${name}`;
}

/** The MCP item of a resource, by the server's name; `undefined` for others. */
function itemOf({ data, kind }: ReviewedResource): ServerItem | undefined {
  if (kind !== "tool" && kind !== "prompt" && kind !== "resource") return undefined;
  return { kind, name: String(Object(Object(data.mcp)[kind]).name) };
}

/** Adds a test to the text of a test file, and its item to those that its server offers. `undefined` if the file is invalid. */
function withTest(text: string, test: GatewayTest, resource: ReviewedResource): string | undefined {
  const document: Document = text.trim() === "" ? new Document({}) : parseDocument(text);
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  const { target } = resource;
  const item = itemOf(resource);
  if (item !== undefined && target !== undefined) {
    const at = ["servers", target, `${item.kind}s`];
    const offered: readonly unknown[] = Object(document.getIn(at)).items ?? [];
    const isOffered = offered.some((each) => Object(each).value === item.name);
    if (offered.length === 0) document.setIn(at, document.createNode([item.name], { flow: true }));
    else if (!isOffered) document.addIn(at, item.name);
  }
  if (document.has("tests")) document.addIn(["tests"], document.createNode(test));
  else document.set("tests", document.createNode([test]));
  return document.toString({ lineWidth: 0 });
}
