import { expect, it } from "vitest";
import { known, seeds, world } from "../fields/kubernetes-cases.ts";
import { kubernetesCompiler, specificationsOf } from "../fields/kubernetes-compiler.ts";
import { tryMistakes } from "../fields/mistake-pairs.ts";

/** Parts that have the same schema in several places: one place is tested. */
const REPEATED = /\.conditional\.\[\]\.policy\.|(?:Moderation|guards\.\w+\.\[\]\.\w+)\.policies\./;
const CREDENTIAL_PLACE = /Authentication\.location$/;
const isLong = process.env.GWC_LONG_TESTS !== undefined;

it("mistakes of manifests are found together as they are found alone, each as one error", {
  timeout: 600_000,
}, () => {
  const { pairs, uneven, hidden } = tryMistakes(
    {
      schema: specificationsOf([
        ...(["GatewayClass", "Gateway", "ListenerSet", "HTTPRoute", "GRPCRoute"] as const),
        ...(["TCPRoute", "TLSRoute", "BackendTLSPolicy", "GatewayBackend"] as const),
        ...(["GatewayModel", "GatewayPolicy", "GatewayParameters"] as const),
      ]),
      known,
      seeds,
      compile: kubernetesCompiler(undefined, world),
      isRepeated: (path) => REPEATED.test(`${path.join(".")}.`),
      // Resources are next to each other only in these tests. Without its own place, a credential is read from that of another.
      canBeMade: ({ touched }) =>
        touched.every((path) => path.length > 1 && !CREDENTIAL_PLACE.test(path.join("."))),
    },
    isLong
      ? { stride: 1, rounds: 20, seed: Date.now() % 1_000_000 }
      : { stride: 60, rounds: 1, seed: 4242 },
  );
  expect(pairs).toBeGreaterThan(60);
  expect({ uneven, hidden }).toEqual({ uneven: [], hidden: [] });
});
