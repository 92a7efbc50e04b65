import { checkFiles } from "../../compiler/compile.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { memoryHost } from "../../compiler/host.ts";
import { allDefaults, withDefaults } from "./api-defaults.ts";
import type { WrittenManifest } from "./manifest-corpus.ts";

const defaults = allDefaults();

/** A manifest as an API server stores it. */
export function stored<Written extends WrittenManifest>(manifest: Written): Written {
  const { apiVersion, kind } = manifest;
  const [version, name] = [
    apiVersion.replace(/^agentgateway\./, "gwc."),
    kind.replace(/^Agentg/, "G"),
  ];
  return withDefaults(manifest, defaults.get(`${version} ${name}`) ?? {});
}

/** The messages about manifests and their compiled form, without places. */
export interface Verdict {
  readonly said: readonly string[];
  readonly programs: string;
}

/** The verdict of manifests as a controller gets them. */
export function verdictOf(manifests: readonly object[]): Verdict {
  const files = Object.fromEntries(
    manifests.map((each, index) => [`${index}.json`, JSON.stringify(each)]),
  );
  const { diagnostics, programs } = checkFiles(Object.keys(files), memoryHost(files), {
    ...{ name: "test", isStrict: false, isIsolating: true, isDelivered: true },
  });
  const said = diagnostics.map(({ code, at, params }) => {
    const text = messageOf(code).text(params as never);
    return `${at.resource?.name} ${code}: ${text}`;
  });
  const isPlace = (key: string) =>
    key === "at" || key === "inputs" || /^o?O?rigins?$|Origins?$/.test(key);
  const plain = JSON.stringify(programs, (key, value: unknown) =>
    isPlace(key) ? undefined : value,
  );
  return { said: [...new Set(said)].sort(), programs: plain };
}
