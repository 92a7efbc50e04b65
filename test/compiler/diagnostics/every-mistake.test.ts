import { expect, it } from "vitest";
import { standaloneSchema } from "../../../compiler/1-parse/standalone/standalone.ts";
import { files, known, seeds } from "../fields/file-cases.ts";
import { fileCompiler } from "../fields/file-compiler.ts";
import { tryMistakes } from "../fields/mistake-pairs.ts";

/** Parts that have the same schema in several places: one place is tested. */
const REPEATED =
  /promptGuard\..*\.policies\.|^gateways\.\*\.listeners\.\[\]\.|^(?:(?:llm|mcp)\.policies|(?:routeGroups\.\[\]\.)?routes\.\[\]|tcpRoutes\.\[\]|policies\.\[\]\.policy)\.|\.(conditional\.\[\]|extAuth|rateLimit|externalModeration)\.|\.(remoteRateLimit|extProc|endpointPicker|webhook|requestMirror|extAuthz)\..*policies\.|(tracing|otlp|logging)\..*policies\.|(backends|providers|models|defaults|targets)\b.*\.policies\./;
const isLong = process.env.GWC_LONG_TESTS !== undefined;

it("mistakes of a file are found together as they are found alone, each as one error", {
  timeout: 600_000,
}, () => {
  const { pairs, uneven, hidden } = tryMistakes(
    {
      schema: standaloneSchema(),
      known,
      seeds,
      compile: fileCompiler(files),
      isRepeated: (path) => REPEATED.test(`${path.join(".")}.`),
    },
    isLong
      ? { stride: 1, rounds: 20, seed: Date.now() % 1_000_000 }
      : { stride: 60, rounds: 1, seed: 4242 },
  );
  expect(pairs).toBeGreaterThan(60);
  expect({ uneven, hidden }).toEqual({ uneven: [], hidden: [] });
});
