import { expect, it } from "vitest";
import { STATIC_ADDRESSES } from "../harness/process-kubelet.ts";
import { describeUnless } from "../harness/skip.ts";
import {
  type ConformanceSuite,
  failedTests,
  missingSuite,
  notInside,
  PATIENCE,
  runSuite,
} from "./suite-in-network.ts";

const suite: ConformanceSuite = {
  name: "gwc-conformance",
  binary: "conformance.test",
  options: [
    "--conformance-profiles=GATEWAY-HTTP,GATEWAY-GRPC,GATEWAY-TLS",
    // One that load balancers have, and one of documentation (RFC 5737) that none has.
    ...[`--usable-address=${STATIC_ADDRESSES}1`, "--unusable-address=192.0.2.1"],
  ],
};
const missing = missingSuite(suite.binary);

describeUnless(missing)("Gateway API conformance", () => {
  it(
    "every test of the profiles and features that gwc claims passes, with traffic to its data planes",
    () => expect(failedTests(suite, import.meta.filename)).toEqual([]),
    PATIENCE,
  );
});

describeUnless(notInside)("in a network of pods", () => {
  it("the suite runs", () => runSuite(suite), PATIENCE);
});
