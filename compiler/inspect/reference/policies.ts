import { type AnyPolicy, policies } from "../../policies/index.ts";
import { exampleText } from "./example.ts";
import { fieldTable } from "./fields.ts";
import { type Page, paragraph, table } from "./page.ts";

/** Returns the page of a policy; `undefined` if the name is unknown. */
export function policyPage(name: string): Page | undefined {
  const index = policies.findIndex(({ kind }) => kind === name);
  const policy = policies[index];
  if (policy === undefined) return undefined;
  const { kind, summary, scope, schema, onBackend } = policy;
  const allowedOn = [...scope, ...(onBackend === undefined ? [] : ["backend"])];
  const place = `It is number ${index + 1} of ${policies.length} in request order.`;
  const places = manifestPlaces(policy);
  const inManifests = places.length === 0 ? "" : ` In manifests it is ${places.join(", or ")}.`;
  return {
    title: kind,
    parts: [
      paragraph(`It ${summary}.`),
      paragraph(`Allowed on: ${allowedOn.join(", ")}. ${place}${inManifests}`),
      { kind: "example", language: "yaml", text: exampleText(kind, schema) },
      ...fieldTable(schema),
    ],
  };
}

/** Lists the fields of manifests that configure a policy. */
function manifestPlaces({ kubernetes }: AnyPolicy): readonly string[] {
  const { field = "", filter, ruleField } = kubernetes ?? {};
  return [
    ...(/^(traffic|backend)\./.test(field) ? [`\`${field}\` of a GatewayPolicy`] : []),
    ...(filter === undefined ? [] : [`the filter \`${filter}\` of a route's rule`]),
    ...(ruleField === undefined ? [] : [`\`${ruleField}\` of a route's rule`]),
  ];
}

/** Returns an introduction and the pages of all policies, in request order. */
export function policyPages(): readonly Page[] {
  const introduction: Page = {
    title: "Policies",
    parts: [
      paragraph(
        "All policies, in the order in which they apply to a request. A bundle contains only the configured ones. " +
          "`gwc explain NAME` prints the page of one.",
      ),
      ...table(
        ["policy", "what it does", "allowed on"],
        policies.map(({ kind, summary, scope }) => [`\`${kind}\``, summary, scope.join(", ")]),
      ),
    ],
  };
  return [introduction, ...policies.flatMap(({ kind }) => policyPage(kind) ?? [])];
}
