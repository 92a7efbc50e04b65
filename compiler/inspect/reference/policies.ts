import { type AnyPolicy, policies } from "../../policies/index.ts";
import { exampleText } from "./example.ts";
import { fieldTable } from "./fields.ts";
import { type Page, paragraph, table } from "./page.ts";

/** The page of a policy; undefined when there is none of that name. */
export function policyPage(name: string): Page | undefined {
  const index = policies.findIndex(({ kind }) => kind === name);
  const policy = policies[index];
  if (policy === undefined) return undefined;
  const { kind, summary, scope, schema, onBackend } = policy;
  const stands = [...scope, ...(onBackend === undefined ? [] : ["backend"])];
  const place = `In request order it is number ${index + 1} of ${policies.length}.`;
  const places = manifestPlaces(policy);
  const inManifests = places.length === 0 ? "" : ` In manifests it is ${places.join(", or ")}.`;
  return {
    title: kind,
    parts: [
      paragraph(`It ${summary}.`),
      paragraph(`It may stand on: ${stands.join(", ")}. ${place}${inManifests}`),
      { kind: "example", language: "yaml", text: exampleText(kind, schema) },
      ...fieldTable(schema),
    ],
  };
}

/** Where manifests may have it. */
function manifestPlaces({ kubernetes }: AnyPolicy): readonly string[] {
  const { field = "", filter, ruleField } = kubernetes ?? {};
  return [
    ...(/^(traffic|backend)\./.test(field) ? [`\`${field}\` of a GatewayPolicy`] : []),
    ...(filter === undefined ? [] : [`the filter \`${filter}\` of a route's rule`]),
    ...(ruleField === undefined ? [] : [`\`${ruleField}\` of a route's rule`]),
  ];
}

/** The pages of all policies, in request order, behind one that says what they are. */
export function policyPages(): readonly Page[] {
  const introduction: Page = {
    title: "Policies",
    parts: [
      paragraph(
        "In the order in which a request meets them. A policy that is not configured is not in the bundle. " +
          "`gwc explain NAME` prints the page of one.",
      ),
      ...table(
        ["policy", "what it does", "stands on"],
        policies.map(({ kind, summary, scope }) => [`\`${kind}\``, summary, scope.join(", ")]),
      ),
    ],
  };
  return [introduction, ...policies.flatMap(({ kind }) => policyPage(kind) ?? [])];
}
