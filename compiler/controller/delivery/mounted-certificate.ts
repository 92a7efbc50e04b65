import { readFileSync } from "node:fs";
import path from "node:path";
import { createSecureContext } from "node:tls";
import { fileProblem } from "../../host.ts";

/** PEM of a certificate, its key, and the authority that data planes know it by. */
export interface DiscoveryCertificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** How often the files are read again, in milliseconds: the kubelet changes them some time after the Secret. */
const READ_EVERY = 2_000;

/** A certificate as a Secret of type TLS is mounted, or why it can't be used. */
export function readCertificate(
  folder: string,
): DiscoveryCertificate | { readonly problem: string } {
  const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
  try {
    const found = { cert: read("tls.crt"), key: read("tls.key"), ca: read("ca.crt") };
    createSecureContext(found);
    return found;
  } catch (error) {
    return { problem: fileProblem(error) };
  }
}

/**
 * Reads a certificate again and again: `changed` gets each that is another one, `warn` hears once of files that can't be
 * used, and what there was stays. Gives what ends it.
 */
export function followCertificate(
  folder: string,
  first: DiscoveryCertificate,
  {
    changed,
    warn,
  }: {
    readonly changed: (certificate: DiscoveryCertificate) => void;
    readonly warn: (message: string) => void;
  },
): () => void {
  let last = first;
  let warned: string | undefined;
  const timer = setInterval(() => {
    const found = readCertificate(folder);
    const problem = "problem" in found ? found.problem : undefined;
    if (problem !== undefined && problem !== warned)
      warn(`${folder}: ${problem}; the old certificate stays in use`);
    warned = problem;
    if ("problem" in found || isSame(found, last)) return;
    last = found;
    changed(found);
  }, READ_EVERY);
  return () => clearInterval(timer);
}

function isSame(one: DiscoveryCertificate, other: DiscoveryCertificate): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca;
}
