import { expect, it } from "vitest";
import { checkManifests, complaints, toolsBackend, world } from "../manifests.ts";

function policy(name: string, origin: string, created = ""): string {
  return `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: ${name}${created === "" ? "" : `, creationTimestamp: "${created}"`}}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: web}]
  traffic: {cors: {allowOrigins: ["${origin}"]}}
`;
}

function originsOf(documents: readonly string[]): {
  origins: readonly string[];
  text: readonly string[];
} {
  const checked = checkManifests([world, toolsBackend, ...documents].join("\n---\n"));
  const routes = checked.program?.binds.flatMap((bind) =>
    bind.listeners.flatMap((each) => each.routes),
  );
  const use = routes
    ?.find(({ name }) => name === "default/web")
    ?.policies.find(({ kind }) => kind === "cors");
  return {
    origins: use?.kind === "cors" ? use.settings.origins : [],
    text: complaints(checked),
  };
}

const old = policy("z-old", "https://old.example.com", "2024-01-01T00:00:00Z");
const young = policy("a-young", "https://young.example.com", "2025-01-01T00:00:00Z");
const ageless = policy("b-ageless", "https://ageless.example.com");
const later = policy("c-ageless", "https://later.example.com");

it("of two policies at one level the older one wins, and the other is reported", () => {
  const { origins, text } = originsOf([young, old]);
  expect(origins).toEqual(["https://old.example.com"]);
  expect(text).toHaveLength(1);
  expect(text[0]).toMatch(
    /policy-conflict: "cors" has no effect .* GatewayPolicy "default\/z-old" also sets it/,
  );
});

it("without an age the name decides, in whatever order the documents come", () => {
  expect(originsOf([ageless, later]).origins).toEqual(["https://ageless.example.com"]);
  expect(originsOf([later, ageless]).origins).toEqual(["https://ageless.example.com"]);
});

it("a policy with an age wins over one without", () => {
  expect(originsOf([ageless, young]).origins).toEqual(["https://young.example.com"]);
});
